package arch

// words know no room of the house but each other where a line says so.
const words = "spec profile capability command event diag proc nearest frame dialog"

// rooms lists, for each room, the rooms that it may import. A room that is
// not listed may not exist. "words" stands for the list above.
var rooms = map[string]string{
	// words
	"nearest":    "", // did you mean
	"spec":       "nearest",
	"profile":    "",
	"capability": "",
	"command":    "",
	"event":      "",
	"diag":       "",
	"proc":       "",
	"tool":       "capability",
	"dialog":     "",     // what the engine of a chat and its screen say to each other
	"frame":      "",     // text from outside in a block that it cannot close
	"root":       "tool", // which paths lie in a run's roots; states them as tool.Path

	"replace": "", // a whole file in one step, for the two rooms that write small files of ours

	"markdown": "", // a model's text as lines for a terminal

	// sources
	"load":            "schema nearest spec profile diag proc",
	"registry":        "spec diag",
	"trust":           "profile diag spec replace", // spec: the hash is over canonical JSON
	"model":           "tool event",
	"model/wire":      "model",
	"model/anthropic": "model model/wire tool event",
	"model/openai":    "model model/wire tool event",
	"model/responses": "model model/wire tool event", // OpenAI's second protocol shares the SDK with model/openai and nothing else
	"model/script":    "model profile event",
	"model/modeltest": "model tool event proc", // the suite of both protocols, and the independent server for tests

	// the loop
	"permission": "tool event command capability profile spec nearest",
	"agent":      "tool model event permission words",

	"permission/foreign": "permission tool words", // the same rules as other agents would judge by them

	// engines behind tools
	"worktree":            "words",                             // a git worktree for one task: made, finished, listed, removed; git is started through proc
	"definition":          "load words",                        // agent files of Claude Code's kind, found, read and healed; nothing of a run
	"skill":               "load words",                        // skills and custom commands, found, read and worded; nothing of a run
	"mcpclient":           "words",                             // connections to MCP servers, programs and addresses; nothing of the agent
	"mcpclient/oauthtest": "",                                  // an authorization server, for tests
	"mcpclient/oauth":     "words replace mcpclient/oauthtest", // signing in at MCP servers, and the tokens that come of it
	"sandbox":             "words tool",                        // walls around a command: bubblewrap, Landlock, Seatbelt; states them as argv and environment

	// plug-ins
	"tool/file":  "tool root words",
	"tool/shell": "tool root sandbox words",
	"tool/talk":  "tool words",           // tools that touch nothing outside the run
	"tool/task":  "tool words",           // handing work to subagents, and the hub of those in the background; who wires it says how one is spawned
	"tool/mcp":   "tool mcpclient words", // what MCP servers offer, under names of ours
	"tool/skill": "tool skill words",     // hands a skill to the model; who wires it says which there are
	"hook":       "agent tool permission words",
	"prompt":     "words",                  // what stands around a persona's prompt: instruction files, mentions
	"session":    "event model tool words", // model: a log becomes a conversation again

	// outlets
	"loopback":               "diag",                                                     // HTTP for this machine alone: listener, token, guard, stop; both HTTP faces stand behind it
	"watch":                  "spec",                                                     // what has changed in the registry's directory, whoever did it
	"ops":                    "schema registry spec diag",                                // the registry's operations as one table, for the faces that speak JSON
	"mcpserve":               "ops watch loopback registry schema words",                 // the registry over MCP
	"webui":                  "ops watch loopback registry load schema words webui/page", // the registry over HTTP, with a page
	"webui/page":             "",                                                         // HTML, style and scripts as files, embedded
	"launch/opencode/plugin": "",                                                         // the part that OpenCode runs, embedded
	"launch/opencode":        "launch/opencode/plugin words",                             // personas as agents of the real OpenCode: a pure plan, rules, and the words of its calls
	"launch/pi":              "words",                                                    // a start of the real Pi with a persona: a pure plan, and its directory of settings

	// front
	"app": "*",
	"cli": "app words schema markdown", // schema: names for completion of larva schema

	"arch": "",
}

// owners lists outside packages that only some rooms may import; a prefix
// stands for all packages below it. Paths are relative to the module.
var owners = map[string]string{
	"cuelang.org/go":                         "internal/load scripts/gen",
	"github.com/alecthomas/kong":             "internal/cli scripts/bench/bare", // bare: what start-up is compared with
	"charm.land/":                            "internal/cli",
	"github.com/yuin/goldmark":               "internal/markdown",
	"github.com/clipperhouse":                "internal/markdown",
	"os/exec":                                "internal/proc scripts/types scripts/bench",
	"mvdan.cc/sh/v3":                         "internal/command",
	"github.com/anthropics":                  "internal/model/anthropic",
	"github.com/openai":                      "internal/model/openai internal/model/responses",
	"github.com/gofrs/flock":                 "internal/registry internal/trust internal/app internal/session internal/worktree internal/mcpclient/oauth",
	"go.yaml.in/yaml":                        "internal/load",
	"github.com/pelletier/go-toml":           "internal/load",
	"github.com/google/jsonschema-go":        "internal/agent",
	"github.com/bmatcuk/doublestar":          "internal/tool/file internal/tool/shell internal/permission",
	"github.com/rogpeppe/go-internal":        "cmd/larva",
	"github.com/santhosh-tekuri":             "scripts/gen internal/load",
	"golang.org/x/term":                      "internal/cli",
	"log":                                    "internal/loopback", // talk goes through events and diag; loopback silences net/http
	"github.com/aymanbagabas/go-udiff":       "internal/app internal/cli",
	"golang.org/x/sync":                      "internal/agent internal/registry internal/tool/file internal/load internal/app scripts/gen",
	"net/http":                               "internal/model internal/model/wire internal/model/anthropic internal/model/openai internal/model/responses internal/model/modeltest internal/hook internal/sandbox internal/loopback internal/mcpserve internal/webui internal/app internal/mcpclient internal/mcpclient/oauth internal/mcpclient/oauthtest scripts/bench",
	"golang.org/x/oauth2":                    "internal/mcpclient/oauth",
	"github.com/modelcontextprotocol/go-sdk": "internal/mcpserve internal/mcpclient internal/mcpclient/oauth cmd/larva scripts/bench",
	"github.com/fsnotify/fsnotify":           "internal/watch",
	"github.com/chromedp":                    "internal/webui internal/webui/page cmd/larva", // tests only
}

// noOS are rooms that never touch the machine.
var noOS = "spec profile capability command event diag permission tool"
