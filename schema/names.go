package schema

// Entry is one definition that larva schema prints.
type Entry struct {
	Name string // as typed: persona-spec
	Def  string // in CUE: #PersonaSpec
	File string // the CUE file that defines it: persona.cue
	Doc  string // one line
}

// JSONFile is the entry's JSON Schema in JSON.
func (e Entry) JSONFile() string { return "json/" + e.Name + ".json" }

// Entries lists the definitions a person may ask for, in reading order.
func Entries() []Entry {
	return []Entry{
		{"persona-spec", "#PersonaSpec", "persona.cue", "the canonical flat persona"},
		{"persona", "#Persona", "variant.cue", "a persona source with its variants"},
		{"contract", "#Contract", "variant.cue", "the half of a persona that its variants share"},
		{"implementation", "#Implementation", "variant.cue", "the half of a persona that a variant owns"},
		{"manifest", "#Manifest", "variant.cue", "which variant is active"},
		{"profile", "#Profile", "profile.cue", "how to run: config.cue, config.toml, profiles/NAME.cue"},
		{"role", "#Role", "role.cue", "a name for a model and its limits"},
		{"provider", "#Provider", "profile.cue", "a model service"},
		{"permissions", "#Permissions", "permission.cue", "allow, ask and deny rules"},
		{"rule", "#Rule", "permission.cue", "one permission rule"},
		{"hooks", "#Hooks", "hook.cue", "hooks by the point they act at"},
		{"hook", "#Hook", "hook.cue", "a command or a prompt at a point of the loop"},
		{"server", "#Server", "server.cue", "an MCP server"},
		{"sandbox", "#Sandbox", "profile.cue", "how shell commands are walled in"},
		{"limits", "#Limits", "profile.cue", "what ends a run"},
		{"scenario", "#Scenario", "scenario.cue", "the script of a script model"},
		{"permission-test", "#PermissionTest", "permtest.cue", "calls and the verdicts that are wanted of them"},
		{"capability", "#CapabilityTable", "capability.cue", "what every tool and command needs"},
	}
}
