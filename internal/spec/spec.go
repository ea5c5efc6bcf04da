// Package spec is PersonaSpec 0.1.0 as plain values: an ordered JSON tree,
// canonical JSON, the digest, and Check with the issue codes of the registry
// contract (opifex, by way of the registry contract's sections 1 to 3).
package spec

// Version is the only spec_version.
const Version = "0.1.0"

// Persona is a checked PersonaSpec in Go's own types, for those who run it.
// Read-only after load.
type Persona struct {
	ID               string
	Description      string
	Prompt           string
	Model            string
	Capabilities     map[string]string // family → posture as written
	SpecVersion      string
	ModelParams      *Object // nil: absent
	CanSpawn         *CanSpawn
	CompactionPrompt *string
	Digest           string
}

// CanSpawn is who may be a subagent: any (All), none, or a list of ids. A nil
// *CanSpawn means absent, which is no spawn but another digest than false.
type CanSpawn struct {
	All bool
	IDs []string // nil unless a list was written
}

// ContractFields and ImplementationFields are the two halves of a spec, in
// the order of the stored files.
var (
	ContractFields       = []string{"id", "description", "capabilities", "can_spawn", "spec_version"}
	ImplementationFields = []string{"prompt", "model", "model_params", "compaction_prompt"}
)

// Issue is one fault of a spec.
type Issue struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Details *Object `json:"details"`
}

// Report is the answer of validate. Lists are never nil.
type Report struct {
	Valid    bool     `json:"valid"`
	Errors   []Issue  `json:"errors"`
	Warnings []string `json:"warnings"`
}
