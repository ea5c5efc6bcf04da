package nearest

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	t.Parallel()
	names := []string{"description", "prompt", "model", "model_params", "can_spawn", "id", "read_only"}
	for written, want := range map[string]string{
		"desciption":             "description",
		"promtp":                 "prompt",
		"Model":                  "model",
		"can-spawn":              "can_spawn",
		"modle":                  "model",
		"model_param":            "model_params",
		"readonly":               "read_only",
		"idd":                    "id",
		"zeta":                   "",
		"":                       "",
		strings.Repeat("a", 100): "",
	} {
		if got := Name(written, names); got != want {
			t.Errorf("%q: got %q, want %q", written, got, want)
		}
	}
}
