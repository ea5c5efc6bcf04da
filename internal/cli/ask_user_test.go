package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestAskUserPlainly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		options []string
		input   string
		want    string
		ok      bool
	}{
		{"typed", nil, "  the second one \n", "the second one", true},
		{"an option", []string{"red", "green"}, "2\n", "green", true},
		{"another answer", []string{"red", "green"}, "3\nblue\n", "blue", true},
		{"nonsense, then an option", []string{"red", "green"}, "purple\n7\n1\n", "red", true},
		{"the end of input", nil, "", "", false},
		{"the end of input before an option", []string{"red"}, "", "", false},
		{"the end of input before the other answer", []string{"red"}, "2\n", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			u := &userAnswer{options: tt.options}
			got, ok := u.plain(t.Context(), "Which\x1b[2J colour?", &lineSource{in: strings.NewReader(tt.input)}, &out)
			if got != tt.want || ok != tt.ok {
				t.Errorf("got %q %v, want %q %v\n%s", got, ok, tt.want, tt.ok, out.String())
			}
			if strings.Contains(out.String(), "\x1b[2J") || !strings.Contains(out.String(), "colour?") {
				t.Errorf("the question is shown as %q", out.String())
			}
		})
	}
}
