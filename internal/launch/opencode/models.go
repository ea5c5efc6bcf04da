package opencode

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ModelMap leads a persona's model to OpenCode's name of it, like Pi's: exact
// names first, then the longest prefix.
type ModelMap struct {
	Models map[string]struct {
		Provider string `json:"provider"`
		ModelID  string `json:"model_id"`
	} `json:"models"`
	Prefixes []struct {
		From     string `json:"from_prefix"`
		Provider string `json:"to_provider"`
		To       string `json:"to_model_id_prefix"`
	} `json:"prefix_rules"`
}

// ReadModelMap reads one; both keys are required, and none other is known.
func ReadModelMap(text []byte) (ModelMap, error) {
	var m ModelMap
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, err
	}
	if d.More() || m.Models == nil || m.Prefixes == nil {
		return m, errors.New("it is one object with models and prefix_rules")
	}
	for name, to := range m.Models {
		if name == "" || to.Provider == "" || to.ModelID == "" {
			return m, fmt.Errorf("models: %q needs a provider and a model_id", name)
		}
	}
	for _, p := range m.Prefixes {
		if p.From == "" || p.Provider == "" {
			return m, errors.New("prefix_rules: a rule needs from_prefix and to_provider")
		}
	}
	return m, nil
}

// Lookup gives provider/model for a model, and false where no line is about it.
func (m ModelMap) Lookup(model string) (string, bool) {
	if to, ok := m.Models[model]; ok {
		return to.Provider + "/" + to.ModelID, true
	}
	best := -1
	for i, p := range m.Prefixes {
		if strings.HasPrefix(model, p.From) && (best < 0 || len(p.From) > len(m.Prefixes[best].From)) {
			best = i
		}
	}
	if best < 0 {
		return "", false
	}
	p := m.Prefixes[best]
	return p.Provider + "/" + p.To + model[len(p.From):], true
}
