// Package diag holds what a person reads when something is wrong: problems
// with their place, errors with a stable code, and the one exit-code table.
//
// Codes and numbers come from the registry contract; SCRIPT_NO_MATCH, NESTED
// and the rest of the second block are ours.
package diag

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is one mistake at one place. Line and Col count from 1; 0 means
// unknown. Path is the dotted field path, "" for the whole file.
type Problem struct {
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Col       int    `json:"col,omitempty"`
	Path      string `json:"path,omitempty"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
	IssueCode string `json:"code,omitempty"` // an issue code of the registry contract, where one applies
}

// String is the one-line form: file:line:col: path: message (hint).
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
			if p.Col > 0 {
				fmt.Fprintf(&b, ":%d", p.Col)
			}
		}
		b.WriteString(": ")
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// Code is a stable error name.
type Code string

// The codes of the registry contract, then ours.
const (
	InvalidInput                 Code = "INVALID_INPUT"
	Internal                     Code = "INTERNAL"
	PersonaNotFound              Code = "PERSONA_NOT_FOUND"
	PersonaInvalid               Code = "PERSONA_INVALID"
	InvalidPersonaID             Code = "INVALID_PERSONA_ID"
	RegistrySpecReadFailed       Code = "REGISTRY_SPEC_READ_FAILED"
	RegistryDiagnosticFailed     Code = "REGISTRY_DIAGNOSTIC_FAILED"
	RegistryWriteFailed          Code = "REGISTRY_WRITE_FAILED"
	RegistryUpdateFailed         Code = "REGISTRY_UPDATE_FAILED"
	RegistryDeleteFailed         Code = "REGISTRY_DELETE_FAILED"
	InvalidConfirmationToken     Code = "INVALID_CONFIRMATION_TOKEN"
	ForbiddenOverrideField       Code = "FORBIDDEN_OVERRIDE_FIELD"
	ForbiddenPatchField          Code = "FORBIDDEN_PATCH_FIELD"
	RegistryCorrupt              Code = "REGISTRY_CORRUPT"
	InvalidVariantName           Code = "INVALID_VARIANT_NAME"
	VariantNotFound              Code = "VARIANT_NOT_FOUND"
	ActiveVariantDeleteForbidden Code = "ACTIVE_VARIANT_DELETE_FORBIDDEN"
	LastVariantDeleteForbidden   Code = "LAST_VARIANT_DELETE_FORBIDDEN"
	PersonaIDMismatch            Code = "PERSONA_ID_MISMATCH"
	BaseContractMismatch         Code = "BASE_CONTRACT_MISMATCH"
	MixedScopePatch              Code = "MIXED_SCOPE_PATCH"
	FieldScopeViolation          Code = "FIELD_SCOPE_VIOLATION"

	StaleWrite      Code = "STALE_WRITE"          // the spec that a write was based on is no longer the stored one
	Nested          Code = "NESTED"               // a verb that widens power, called from inside a run
	ScriptNoMatch   Code = "SCRIPT_NO_MATCH"      // no turn of a scenario holds
	ModelFailed     Code = "MODEL_FAILED"         // the model's service failed, refused or was cut off
	ModelUnknown    Code = "MODEL_UNKNOWN"        // a label that no role, model or provider knows
	KeyMissing      Code = "KEY_MISSING"          // the provider's key is not in the environment
	ProfileInvalid  Code = "PROFILE_INVALID"      // a profile, config or scenario that does not fit its schema
	NotTrusted      Code = "NOT_TRUSTED"          // a project item that nobody has said yes to
	SourceDiffers   Code = "SOURCE_DIFFERS"       // a trusted project source and the registry disagree
	AlreadyExists   Code = "ALREADY_EXISTS"       // init never overwrites
	Interrupted     Code = "INTERRUPTED"          // Ctrl-C
	ReservedParam   Code = "RESERVED_PARAM"       // model_params names what the request itself owns
	EvaluationLimit Code = "EVALUATION_LIMIT"     // a CUE file that does not end in the time or memory allowed
	Unsupported     Code = "UNSUPPORTED"          // this build or platform cannot do it
	SessionNotFound Code = "SESSION_NOT_FOUND"    // no session of that id, or several
	SessionBusy     Code = "SESSION_BUSY"         // another process writes it
	SessionCorrupt  Code = "SESSION_CORRUPT"      // a line that is no entry, other than a torn last one
	SessionWrite    Code = "SESSION_WRITE_FAILED" // the disk is full, say: a run does not go on unrecorded
	UndoConflict    Code = "UNDO_CONFLICT"        // a file has changed since, by somebody else
	WorktreeFailed  Code = "WORKTREE_FAILED"      // a worktree cannot be made, finished or removed
	WorktreeUnknown Code = "WORKTREE_NOT_FOUND"   // no worktree of that name
	WorktreeUnsaved Code = "WORKTREE_UNSAVED"     // it holds what is nowhere else, or a run is at work in it
	NoOpenCode      Code = "OPENCODE_NOT_FOUND"   // the program to launch is missing
	SignInFailed    Code = "SIGN_IN_FAILED"       // an MCP server, or who signs in for it, refuses or cannot be reached
	RequestRefused  Code = "REQUEST_REFUSED"      // an HTTP request without the token, or from somebody else's page
)

// numbers of the contract. Codes that no operation can emit (102, 105, 106,
// 107 as an index code, 115, 116) stay reserved; ours begin at 126.
var numbers = map[Code]int{
	InvalidInput: 1, Internal: 10, PersonaNotFound: 100, PersonaInvalid: 101, InvalidPersonaID: 104,
	RegistryDiagnosticFailed: 107, RegistrySpecReadFailed: 108, RegistryWriteFailed: 109,
	RegistryUpdateFailed: 110, RegistryDeleteFailed: 111, InvalidConfirmationToken: 112,
	ForbiddenOverrideField: 113, ForbiddenPatchField: 114, RegistryCorrupt: 117, InvalidVariantName: 118,
	VariantNotFound: 119, ActiveVariantDeleteForbidden: 120, LastVariantDeleteForbidden: 121,
	PersonaIDMismatch: 122, BaseContractMismatch: 123, MixedScopePatch: 124, FieldScopeViolation: 125,
	StaleWrite: 126, Nested: 127, ScriptNoMatch: 128, ModelFailed: 129, ModelUnknown: 130, KeyMissing: 131,
	ProfileInvalid: 132, NotTrusted: 133, SourceDiffers: 134, AlreadyExists: 135, Interrupted: 136,
	ReservedParam: 137, EvaluationLimit: 138, Unsupported: 139,
	SessionNotFound: 140, SessionBusy: 141, SessionCorrupt: 142, SessionWrite: 143, UndoConflict: 144, RequestRefused: 145,
	WorktreeFailed: 146, WorktreeUnknown: 147, WorktreeUnsaved: 148, NoOpenCode: 149,
}

// Number is the code's numeric form; an unknown code is 10.
func (c Code) Number() int {
	if n, ok := numbers[c]; ok {
		return n
	}
	return 10
}

// The exit codes of every command.
const (
	ExitOK          = 0
	ExitFailed      = 1 // the operation failed, an invalid persona too
	ExitUsage       = 2 // bad usage or unreadable input
	ExitDenied      = 3
	ExitBudget      = 4
	ExitMaxTurns    = 5
	ExitLoop        = 6
	ExitModel       = 7
	ExitSchema      = 8
	ExitTimeLimit   = 9
	ExitNotFound    = 127 // a launched program is missing
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// Error is a failed operation as every face shows it: the envelope's code,
// message and details, a hint with the command that helps, and the exit code.
type Error struct {
	Code    Code
	Message string
	Details map[string]any // JSON values; spec.Number and *spec.Object included. nil prints as {}
	Hint    string         // text mode only
	Exit    int            // 0 means ExitFailed
	// Notices were due before the failure and may explain it; in JSON they
	// stand in details.notices.
	Notices []string
	// Problems are printed one a line in text mode, in place of Message.
	Problems []Problem
	Cause    error
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// ExitCode is the process's exit code for this error.
func (e *Error) ExitCode() int {
	if e.Exit == 0 {
		return ExitFailed
	}
	return e.Exit
}

// New builds an error of one code with exit 1.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Usage is bad usage or unreadable input: INVALID_INPUT, exit 2.
func Usage(format string, args ...any) *Error {
	return &Error{Code: InvalidInput, Message: fmt.Sprintf(format, args...), Exit: ExitUsage}
}

// With adds one detail and returns e.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
	return e
}

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// As gives err as an *Error; anything else becomes INTERNAL, exit 1.
func As(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: Internal, Message: err.Error(), Cause: err}
}
