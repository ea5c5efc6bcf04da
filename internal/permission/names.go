package permission

import (
	"slices"
	"strings"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/nearest"
)

// claude are Claude Code's names whose spelling differs from ours by more
// than case and underscores.
var claude = map[string]string{"agent": "task", "askuserquestion": "ask_user", "killshell": "bash_kill", "killbash": "bash_kill",
	"taskoutput": "task_wait", "taskstop": "task_stop", "listmcpresourcestool": "list_mcp_resources", "readmcpresourcetool": "read_mcp_resource"}

// toolName gives our name of a tool, from ours or Claude Code's spelling.
func toolName(written string) (string, bool) {
	if _, ok := capability.Tool(written); ok {
		return written, true
	}
	flat := strings.ToLower(strings.ReplaceAll(written, "_", ""))
	if n, ok := claude[flat]; ok {
		return n, true
	}
	for _, n := range capability.ToolNames() {
		if strings.ReplaceAll(n, "_", "") == flat {
			return n, true
		}
	}
	return "", false
}

// ToolName gives our name of a tool from ours or Claude Code's spelling; an MCP
// tool's is its own.
func ToolName(written string) (string, bool) {
	if strings.HasPrefix(written, "mcp__") {
		return written, true
	}
	return toolName(written)
}

// Known says whether a name is a tool of ours or has the form of an MCP tool.
func Known(tool string) bool {
	if s, t, ok := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__"); strings.HasPrefix(tool, "mcp__") {
		return ok && s != "" && t != ""
	}
	_, ok := capability.Tool(tool)
	return ok
}

// DidYouMean is the tool whose name is nearest to a mistyped one, "" where
// none is near.
func DidYouMean(written string) string {
	names := capability.ToolNames()
	slices.Sort(names)
	return nearest.Name(written, names)
}

// fileTool says that a tool's rules are matched against paths.
func fileTool(t string) bool { return reads(t) || writes(t) }

// reads and writes are the two classes of file tools.
func reads(t string) bool { return t == "read" || t == "glob" || t == "grep" || t == "lsp" }

func writes(t string) bool {
	return t == "edit" || t == "write" || t == "multi_edit" || t == "write_files" || t == "apply_code_action"
}

// speaksOf says whether a rule for one tool speaks of calls of another. read
// stands for all that reads, edit for all that writes; a rule that restricts
// reaches further than one that allows: a file that must not be read cannot be
// edited either, and write(…) forbids every way of writing.
func speaksOf(rule, call string, restricts bool) bool {
	switch {
	case rule == call:
		return true
	case rule == "read":
		return reads(call) || restricts && (call == "edit" || call == "multi_edit" || call == "apply_code_action")
	case rule == "edit":
		return writes(call)
	case rule == "write":
		return call == "write_files" || restricts && writes(call)
	case rule == "multi_edit" || rule == "write_files":
		return restricts && writes(call)
	}
	return false
}
