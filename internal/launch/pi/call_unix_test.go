//go:build unix

package pi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"larva.dev/larva/internal/launch/pi"
)

func TestTranslate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tool, args, want string }{ // want "": refused
		{"bash", `{"command":"ls -l","timeout":3}`, `bash {"command":"ls -l"}`},
		{"bash", `{}`, ""},
		{"bash", `{"command":["ls"]}`, ""},
		{"read", `{"path":"a.txt","offset":2}`, `read {"path":"/w/a.txt"}`},
		{"read", `{"path":"@a.txt"}`, `read {"path":"/w/a.txt"}`},
		{"read", `{"path":"@~/.ssh/id_rsa"}`, `read {"path":"/h/.ssh/id_rsa"}`},
		{"read", `{"path":"../x"}`, `read {"path":"/x"}`},
		{"read", `{"path":"a\u00a0b"}`, `read {"path":"/w/a b"}`},
		{"read", `{"path":"it's"}`, `read {"path":"/w/it's"} read {"path":"/w/it’s"}`},
		{"read", `{"path":"file:///etc/passwd"}`, ""},
		{"read", `{"path":"@file:///etc/passwd"}`, ""},
		{"read", `{"path":"a\u0000"}`, ""},
		{"read", `{"filePath":"a"}`, ""},
		{"write", `{"path":"~","content":"x"}`, `write {"content":"","path":"/h"}`},
		{"edit", `{"path":"/a/../b","edits":[]}`, `edit {"new_string":"b","old_string":"a","path":"/b"}`},
		{"grep", `{"pattern":"x"}`, `grep {"path":"/w","pattern":"."}`},
		{"find", `{"pattern":"x","path":"/etc"}`, `glob {"path":"/etc","pattern":"**"}`},
		{"ls", `{"path":null}`, `glob {"path":"/w","pattern":"**"}`},
		{"ls", `[]`, ""},
		{"powershell", `{"command":"ls"}`, ""},
		{"executeTool", `{"name":"bash"}`, ""},
		{"Bash", `{"command":"ls"}`, ""},
	} {
		got, err := pi.Translate(pi.Asked{Tool: tc.tool, Args: json.RawMessage(tc.args), Cwd: "/w", Home: "/h"})
		var said []string
		for _, w := range got {
			said = append(said, w.Tool+" "+string(w.Input))
		}
		if s := strings.Join(said, " "); s != tc.want || (err != nil) != (tc.want == "") {
			t.Errorf("%s %s: got %q, %v, want %q", tc.tool, tc.args, s, err, tc.want)
		}
	}
}
