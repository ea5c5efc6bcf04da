package cli

import (
	"github.com/alecthomas/kong"
)

// grammar is the whole command line. Order here is order in help.
type grammar struct {
	Help    helpFlag    `short:"h" help:"Show help."`
	Version versionFlag `short:"V" help:"Show the version."`
	JSON    bool        `name:"json" help:"The same as -o json."`
	Output  string      `short:"o" enum:"text,json,stream-json" default:"text" placeholder:"FORMAT" help:"text, or json: one line, {\"data\":…} or {\"error\":…}; run also knows stream-json."`

	Init       initCmd       `cmd:"" group:"author" help:"Write a starter repository."`
	Validate   validateCmd   `cmd:"" group:"author" help:"Check personas and profiles without storing anything."`
	Schema     schemaCmd     `cmd:"" group:"author" help:"Print a schema, or the names of all."`
	Completion completionCmd `cmd:"" group:"author" help:"Print a completion script."`

	Register registerCmd `cmd:"" group:"registry" help:"Store personas in the registry."`
	Resolve  resolveCmd  `cmd:"" group:"registry" help:"Print a stored persona as one PersonaSpec."`
	List     listCmd     `cmd:"" group:"registry" help:"List the stored personas."`
	Update   updateCmd   `cmd:"" group:"registry" help:"Change fields of one persona, or of all that match."`
	Clone    cloneCmd    `cmd:"" group:"registry" help:"Copy a persona to a new id."`
	Delete   deleteCmd   `cmd:"" group:"registry" help:"Remove a persona with all its variants."`
	Clear    clearCmd    `cmd:"" group:"registry" help:"Remove all personas."`
	Export   exportCmd   `cmd:"" group:"registry" help:"Print whole personas."`
	Variant  variantCmd  `cmd:"" group:"registry" help:"List, activate or delete a persona's variants."`
	Doctor   doctorCmd   `cmd:"" group:"registry" help:"Check every stored persona on its own."`

	Run      runCmd      `cmd:"" group:"run" help:"Run a persona."`
	Chat     chatCmd     `cmd:"" group:"run" help:"Talk to a persona: many turns, background tasks, another persona in between."`
	Session  sessionCmd  `cmd:"" group:"run" help:"See what runs said and did, undo it, and keep or remove it."`
	Worktree worktreeCmd `cmd:"" group:"run" help:"See and remove the worktrees that runs and tasks have left."`

	OpenCode openCodeCmd `cmd:"" name:"opencode" group:"run" help:"Start the real OpenCode with the registry's personas as its agents."`

	MCP   mcpCmd   `cmd:"" name:"mcp" group:"serve" help:"Serve the registry to agents over the Model Context Protocol."`
	Serve serveCmd `cmd:"" group:"serve" help:"Serve the registry as a page and as REST to this machine."`

	Permission permissionCmd `cmd:"" group:"inspect" help:"See what a rule set allows."`
	Hook       hookCmd       `cmd:"" group:"inspect" help:"See the hooks, and try them."`
	Agent      agentCmd      `cmd:"" group:"inspect" help:"See the agent definitions that can be run or spawned."`
	Server     serverCmd     `cmd:"" group:"inspect" help:"See the MCP servers of runs, what they have, and sign in at them."`
	Skill      skillCmd      `cmd:"" group:"inspect" help:"See and check the skills and commands that a run has."`
	Profile    profileCmd    `cmd:"" group:"inspect" help:"See the profiles, what they merge to here, and who runs on what."`
	Trust      trustCmd      `cmd:"" group:"inspect" help:"Say yes to the exact content of a project's items, or take it back."`

	HelpVerb    helpCmd    `cmd:"" name:"help" group:"about" help:"Show the help of a command."`
	VersionVerb versionCmd `cmd:"" name:"version" group:"about" help:"Show the version."`
}

const about = "Personas as code: write an agent once, see what it may do, and run it on a real repository, never with more power than you wrote."

func newKong(g *grammar) (*kong.Kong, error) {
	return kong.New(g,
		kong.Name("larva"),
		kong.Description(about),
		kong.NoDefaultHelp(),
		kong.ExplicitGroups([]kong.Group{
			{Key: "author", Title: "Write:"},
			{Key: "registry", Title: "Registry:"},
			{Key: "run", Title: "Run:"},
			{Key: "serve", Title: "Serve:"},
			{Key: "inspect", Title: "Inspect:"},
			{Key: "about", Title: "About larva:"},
		}),
		kong.Exit(func(int) {}), // help and version end in errDone
	)
}
