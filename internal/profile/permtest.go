package profile

import "encoding/json"

// PermissionTest is a table of calls with the verdicts wanted of them.
type PermissionTest struct {
	Persona     string           `json:"persona,omitempty"` // id or path; "": no ceiling
	Mode        string           `json:"mode,omitempty"`    // "": the profile's
	Permissions Permissions      `json:"permissions,omitzero"`
	Cases       []PermissionCase `json:"cases"`
}

// PermissionCase is one call. Input is an object, or a string that fills the
// tool's main field.
type PermissionCase struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	Want  string          `json:"want"` // allow | ask | deny
	Why   string          `json:"why,omitempty"`
}
