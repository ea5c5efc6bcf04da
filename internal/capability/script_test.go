package capability

import "testing"

// A script is read, where it is certain which word it is; what it is given may
// be written.
func TestScriptIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line  []string
		write map[string]bool
	}{
		{[]string{"bash", "run.sh", "out"}, map[string]bool{"run.sh": false, "out": true}},
		{[]string{"python3", "gen.py"}, map[string]bool{"gen.py": false}},
		{[]string{"/usr/bin/node", "x.js", "a", "b"}, map[string]bool{"x.js": false, "a": true, "b": true}},
		{[]string{"perl", "-pi", "s.pl", "out"}, map[string]bool{"s.pl": true, "out": true}},
		{[]string{"bash", "-x", "run.sh"}, map[string]bool{"run.sh": true}},
		{[]string{"java", "x.jar"}, map[string]bool{"x.jar": true}},
	} {
		var argv []Arg
		for _, w := range c.line {
			argv = append(argv, Arg{Value: w, Known: true})
		}
		got := map[string]bool{}
		for _, o := range ShellNeeds(argv, true).Operands {
			got[o.Value] = o.Write
		}
		for path, write := range c.write {
			if w, ok := got[path]; !ok || w != write {
				t.Errorf("%q: got %v, want %s to be written: %t", c.line, got, path, write)
			}
		}
	}
	for _, a := range []Arg{{Value: "*.sh", Known: true, Glob: true}, {Value: "run"}} {
		for _, o := range ShellNeeds([]Arg{{Value: "bash", Known: true}, a}, true).Operands {
			if !o.Write {
				t.Errorf("%+v: got read, want a word that may become several to be written", a)
			}
		}
	}
}
