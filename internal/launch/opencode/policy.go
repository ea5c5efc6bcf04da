package opencode

import (
	"bytes"
	"encoding/json"
	"errors"
)

// CheckPolicy says what is wrong with a tool policy file's text. The plugin
// reads it again for every call.
func CheckPolicy(text []byte) error {
	var file struct {
		Schema any `json:"$schema"`
		Agents map[string]*struct {
			Deny  *[]string `json:"deny"`
			Allow *[]string `json:"allow"`
		} `json:"agents"`
	}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return errors.New("it is no object")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is more behind the object")
	}
	for id, rule := range file.Agents {
		if rule == nil {
			return errors.New("agents." + id + " is not an object")
		}
		for _, list := range []*[]string{rule.Deny, rule.Allow} {
			if list == nil {
				continue
			}
			for _, p := range *list {
				if p == "" {
					return errors.New("agents." + id + ": a tool's name is empty")
				}
			}
		}
	}
	return nil
}
