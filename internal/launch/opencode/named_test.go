package opencode

import "testing"

func TestNamesAgent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"agent":{"bash":{}}}`: true, `{"mode":{"bash":{}}}`: true,
		`{"permission":{"bash":"ask"}}`: false, `{"agent":{"x":{"tools":{"bash":true}}}}`: false, `{"agent":["bash"]}`: false,
		"{ // \"agent\"\n \"agent\": { /* x */ \"bash\": {}, }, }": true, `{"x":"\"agent\":{\"bash\":1}"}`: false, `{"agent":{"bash":`: false, "": false, `"`: false, `/`: false,
		"{\"x\": \"// no comment\", \"agent\": {\"bash\": {\"prompt\": \"a, }\"}}}": true,
	} {
		if got := NamesAgent([]byte(text), "bash"); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}

func FuzzNamesAgent(f *testing.F) {
	f.Add([]byte(`{"agent": {"a": 1,}, /* x */ }`))
	f.Add([]byte(`"\`))
	f.Fuzz(func(_ *testing.T, text []byte) { NamesAgent(text, "a") })
}

// TestAttachAnywhere: flags may stand before the command.
func TestAttachAnywhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{"attach", "http://x"}, true}, {[]string{"--print-logs", "attach", "http://x"}, true}, {[]string{"--log-level", "INFO", "attach", "u"}, true},
		{[]string{"run", "--attach", "http://x", "hi"}, true}, {[]string{"run", "attach", "the", "file"}, false}, {[]string{"run", "--agent", "x", "attach"}, false},
		{[]string{"--", "attach"}, false}, {nil, false},
	} {
		if got := ReadArgs(c.args).Attach; got != c.want {
			t.Errorf("%q: got %t, want %t", c.args, got, c.want)
		}
	}
}
