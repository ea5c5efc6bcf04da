package capability

// Guarded is a place that no posture, rule or mode lets a call change: what is
// in it decides what larva, git or another agent runs. The judge and the
// sandbox both go by these lists.
type Guarded struct {
	Name string // of one path component
	// Content is a valid one that changes nothing, for a place that does not
	// exist and must be held; "/" is an empty directory.
	Content string
	Why     string // said of the name
}

var guarded = [...]Guarded{
	{".larva", "/", "holds what larva reads and trusts"},
	{".larik", "/", "holds what larva reads and trusts"},
	{".claude", "/", "holds what larva reads and trusts"},
	{".agents", "/", "holds what larva reads and trusts"},
	{"cue.mod", "/", "holds the schema that personas are checked against"},
	{".mcp.json", "{}\n", "names servers that larva starts"},
}

// gitCode are parts of a .git.
var gitCode = [...]Guarded{
	{"hooks", "/", "chooses what git runs"},
	{"info", "/", "chooses what git runs"},
	{"modules", "/", "chooses what git runs"},
	{"worktrees", "/", "chooses what git runs"},
	{"config", "", "chooses what git runs"},
	{"config.worktree", "", "chooses what git runs"},
	{"commondir", ".\n", "chooses what git runs"},
}

// GuardedNames are those of files and directories anywhere. The slice is for
// reading.
func GuardedNames() []Guarded { return guarded[:] }

// GuardedGit are those inside a .git: what chooses code that git runs, or leads
// git to another repository. The slice is for reading.
func GuardedGit() []Guarded { return gitCode[:] }
