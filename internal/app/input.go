package app

import (
	"context"
	"io"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/tool/task"
)

// RunInput is everything `run` was told.
type RunInput struct {
	Persona string // a path (has a "/" or a file ending) or an id
	Prompt  string // the PROMPT arguments, joined with spaces; "" when none was given
	Profile string // --profile: a name or a path
	Variant string
	// Override holds --override, typed by the field; nil when none was given.
	Override *spec.Object
	Model    string // --model: in place of the persona's label
	Mode     string // --mode; "" keeps the profile's
	MaxTurns int    // --max-turns; 0 keeps the profile's
	Allow    []string
	Ask      []string
	Deny     []string
	AddDirs  []string
	// Continue goes on with the project's latest session, Resume with the one of
	// this id, Fork with a copy of it (ID or ID@N: up to the Nth typed prompt).
	// Persona may then be "", or the prompt's first word.
	Continue     bool
	Resume, Fork string
	// Limits are --budget-usd, --budget-tokens and --time-limit.
	Limits profile.Limits
	// Effort is --effort; "" keeps the role's.
	Effort string
	// JSONSchema is --json-schema: the final answer must satisfy it. nil: none.
	// JSONSchemaFile is where it was read, for messages; "": it came as text.
	JSONSchema     []byte
	JSONSchemaFile string
	// Worktree makes the run work in a git worktree of its own.
	Worktree bool
	// FailOnDenied makes any denial exit 3.
	FailOnDenied bool
	// Stdin is appended to the prompt where it is piped (StdinTTY false).
	// Reading ends with ctx.
	Stdin    io.Reader
	StdinTTY bool
	// Question puts a question to the person; nil means nobody can be asked.
	Question func(context.Context, event.Question) event.Answer
	// AskUser puts a question of the model's own to the person; nil means nobody
	// is there.
	AskUser func(ctx context.Context, question string, options []string) (answer string, ok bool)
	// Emit receives every event in order, from one goroutine at a time; nil drops them.
	Emit func(event.Event)

	hub *task.Hub // of a chat; nil: a run has its own
}

// Plan is what `run --dry-run` shows: what a run would be, nothing sent.
type Plan struct {
	Persona event.PersonaRef `json:"persona"`
	Label   string           `json:"label"` // the persona's model label
	Model   string           `json:"model"` // provider/model it resolves to
	// Fallbacks are asked in order where that one's service fails; a key is not
	// looked for yet.
	Fallbacks []string  `json:"fallbacks,omitempty"`
	Effort    string    `json:"effort,omitempty"`
	Mode      string    `json:"mode"`
	Profile   string    `json:"profile"` // "" where none was named
	Tools     []string  `json:"tools"`
	Rules     PlanRules `json:"rules"`
	Hooks     []string  `json:"hooks"`
	Roots     []string  `json:"roots"`
	Sandbox   string    `json:"sandbox"`
	// Ceiling is the persona's declared capabilities.
	Ceiling map[string]string `json:"capabilities"`
	// SystemBytes and PromptBytes are sizes in bytes of UTF-8.
	SystemBytes int      `json:"system_bytes"`
	PromptBytes int      `json:"prompt_bytes"`
	MaxTurns    int      `json:"max_turns"`
	Notices     []string `json:"notices"`
}

// PlanRules are the rules in force with their origins.
type PlanRules struct {
	Allow []PlanRule `json:"allow"`
	Ask   []PlanRule `json:"ask"`
	Deny  []PlanRule `json:"deny"`
}

// PlanRule is one rule and the file:line or flag it came from.
type PlanRule struct {
	Rule   string `json:"rule"`
	Origin string `json:"origin"`
}

// ExplainInput is everything `permission explain` was told.
type ExplainInput struct {
	Tool  string
	Input string // JSON, or for bash a shell line, or for file tools a path
	// Calls, when not nil, is read in place of Tool and Input: one
	// {"tool","input"} a line.
	Calls   io.Reader
	Persona string // whose ceiling counts; "" none
	Variant string
	Profile string
	Mode    string
	Allow   []string
	Ask     []string
	Deny    []string
	AddDirs []string
}

// TrustItem is one thing of the project that counts only once trusted.
type TrustItem struct {
	Kind   string `json:"kind"` // hook | server | definition | persona | profile
	Name   string `json:"name"`
	Source string `json:"source"` // file:line
	Hash   string `json:"hash"`   // sha256:…
	Status string `json:"state"`  // trusted | changed | untrusted

	// What a person reads before the yes.
	File    string   `json:"-"` // of Source, as a person names it
	Content []string `json:"-"` // the item as written, line by line
	Files   []string `json:"-"` // files of the project that it names and the hash covers
	Raises  []string `json:"-"` // what it would give that nothing else does
	Vars    []string `json:"-"` // names of variables that it would fill in
}

// TrustInput is what `trust grant` and `trust revoke` were told.
type TrustInput struct {
	Items  []string // names or files as `trust list` prints them
	Hashes []string // grant without a question: exact full hashes
	// Confirm asks the person about one item; nil means there is nobody to ask.
	Confirm func(context.Context, TrustItem) (bool, error)
}

// Who is what the command line names to be run, as it is typed.
func (in RunInput) Who() string {
	if in.Persona == "" && !in.Continue && in.Resume == "" && in.Fork == "" {
		return chatPersona
	}
	return in.typed()
}
