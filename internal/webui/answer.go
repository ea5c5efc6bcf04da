package webui

import (
	"fmt"
	"net/http"
	"strconv"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// call is one request on its way through a route.
type call struct {
	r      *http.Request
	params map[string]string
	body   *spec.Object // nil where the route reads none
	ops    *ops.Service // with the request's condition
	etag   string       // the spec_digest of the spec that the answer carries
}

// answer runs a route that gives data.
func (s *server) answer(w http.ResponseWriter, r *http.Request, m match) {
	c := &call{r: r, params: m.params, ops: s.Ops}
	if err := s.prepare(w, c, m.route); err != nil {
		writeFailure(w, err)
		return
	}
	v, err := m.route.run(s, c)
	if err != nil {
		writeFailure(w, err)
		return
	}
	if o, ok := v.(*spec.Object); ok && c.etag == "" {
		c.etag = o.String(spec.DigestField)
	}
	if c.etag != "" {
		w.Header().Set("ETag", strconv.Quote(c.etag))
	}
	writeJSON(w, http.StatusOK, append(appendValue([]byte(`{"data":`), v), '}', '\n'))
}

// prepare reads what the request brings: its type, its body, its conditions.
func (s *server) prepare(w http.ResponseWriter, c *call, rt *route) error {
	if err := checkType(c.r, rt); err != nil {
		return err
	}
	if rt.body == objectBody {
		o, err := readObject(w, c.r)
		if err != nil {
			return err
		}
		c.body = o
	}
	if !rt.token {
		return nil
	}
	return c.condition()
}

// appendValue appends v's canonical JSON. A list of ten thousand summaries
// goes without the way over encoding/json.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case []registry.Summary:
		b = append(b, '[')
		for i, row := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = registry.AppendSummary(b, row)
		}
		return append(b, ']')
	case []*spec.Object:
		b = append(b, '[')
		for i, o := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = spec.AppendCanonical(b, o)
		}
		return append(b, ']')
	}
	return spec.AppendCanonical(b, v)
}

// failure is an error whose status is not that of its code.
type failure struct {
	status int
	err    *diag.Error
}

func (f failure) Error() string { return f.err.Error() }

func writeFailure(w http.ResponseWriter, err error) {
	if f, ok := err.(failure); ok {
		writeError(w, f.status, f.err)
		return
	}
	e := diag.As(err)
	writeError(w, statusOf(e.Code), e)
}

// statusOf is the contract's table, and what our own codes are over HTTP.
func statusOf(c diag.Code) int {
	switch c {
	case diag.PersonaNotFound, diag.VariantNotFound:
		return http.StatusNotFound
	case diag.ActiveVariantDeleteForbidden, diag.LastVariantDeleteForbidden, diag.StaleWrite:
		return http.StatusConflict
	case diag.Internal, diag.RegistryCorrupt, diag.RegistrySpecReadFailed, diag.RegistryWriteFailed,
		diag.RegistryUpdateFailed, diag.RegistryDeleteFailed, diag.RegistryDiagnosticFailed:
		return http.StatusInternalServerError
	case diag.Nested, diag.RequestRefused:
		return http.StatusForbidden
	case diag.Interrupted:
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// envelope is a failure as every face shows it.
func envelope(e *diag.Error) map[string]any {
	details := e.Details
	if details == nil {
		details = map[string]any{}
	}
	return map[string]any{"code": string(e.Code), "numeric_code": e.Code.Number(), "message": e.Message, "details": details}
}

func writeError(w http.ResponseWriter, status int, e *diag.Error) {
	writeJSON(w, status, append(spec.AppendCanonical([]byte(`{"error":`), envelope(e)), '}', '\n'))
}

// writeDetail is the answer to a path or a method that no row has.
func writeDetail(w http.ResponseWriter, status int) {
	writeJSON(w, status, append(spec.AppendCanonical(nil, map[string]any{"detail": http.StatusText(status)}), '\n'))
}

func writeJSON(w http.ResponseWriter, status int, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b) // a peer that has gone is told nothing
}

func faultText(v any) string {
	const most = 200
	s := fmt.Sprint(v)
	return s[:min(len(s), most)]
}
