package webui

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/spec"
)

// checkType wants JSON where something is sent: a form or a plain text is
// what a page of another site can send without asking first.
func checkType(r *http.Request, rt *route) error {
	values := r.Header.Values("Content-Type")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if rt.body == noBody && (reads || len(values) == 0 && r.ContentLength == 0) {
		return nil
	}
	if len(values) == 1 {
		kind, params, err := mime.ParseMediaType(values[0])
		if err == nil && kind == "application/json" && (params["charset"] == "" || strings.EqualFold(params["charset"], "utf-8")) && r.Header.Get("Content-Encoding") == "" {
			return nil
		}
	}
	return failure{http.StatusUnsupportedMediaType,
		diag.New(diag.InvalidInput, "the body must be JSON in UTF-8, sent as Content-Type: application/json").With("field", "content_type")}
}

// readObject reads a body that has to be one JSON object.
func readObject(w http.ResponseWriter, r *http.Request) (*spec.Object, error) {
	var data []byte
	var err error
	if r.ContentLength <= spec.MaxBytes { // what says that it is larger is not read at all
		data, err = io.ReadAll(http.MaxBytesReader(w, r.Body, spec.MaxBytes))
	}
	var big *http.MaxBytesError
	switch {
	case r.ContentLength > spec.MaxBytes || errors.As(err, &big):
		return nil, failure{http.StatusRequestEntityTooLarge,
			diag.New(diag.InvalidInput, "the body is larger than %d MiB", spec.MaxBytes>>20).With("field", "params").With("limit", spec.MaxBytes)}
	case err != nil:
		return nil, failure{http.StatusRequestTimeout, diag.New(diag.InvalidInput, "the body did not come whole").With("field", "params")}
	}
	v, err := spec.Parse(data)
	if err != nil {
		return nil, badBody("invalid_json", "the body is not JSON: "+err.Error())
	}
	o, ok := v.(*spec.Object)
	if !ok {
		return nil, badBody(ops.TypeOf(v), "the body must be a JSON object, not "+ops.TypeOf(v))
	}
	return o, nil
}

func badBody(received, message string) error {
	return diag.New(diag.InvalidInput, "%s", message).With("field", "params").With("received_type", received)
}

// condition takes If-Match and If-None-Match into c.ops. A digest stands
// quoted, as in ETag, or bare. If-None-Match: * wants that nothing is there.
func (c *call) condition() error {
	match, isMatch, err := digests(c.r.Header.Values("If-Match"), "if_match")
	if err != nil {
		return err
	}
	none, isNone, err := digests(c.r.Header.Values("If-None-Match"), "if_none_match")
	switch {
	case err != nil:
		return err
	case isMatch && isNone:
		return badCondition("if_none_match", "If-Match and If-None-Match exclude each other")
	case isNone && (len(none) != 1 || none[0] != "*"):
		return badCondition("if_none_match", "If-None-Match takes * alone: nothing may be there yet")
	case isNone:
		c.ops = c.ops.If("")
	case isMatch:
		c.ops = c.ops.If(c.pick(match))
	}
	return nil
}

// pick is the digest to expect. Of several, and for *, it is the one that
// stands there now, if it is among them: the operation looks again, with the
// lock held. Where nothing stands there, any of them will fail.
func (c *call) pick(list []string) string {
	if len(list) == 1 && list[0] != "*" {
		return list[0]
	}
	now := ""
	p := &spec.Object{}
	p.Set("id", c.params["id"])
	if v := c.params["variant"]; v != "" {
		p.Set("variant", v)
	}
	if o, err := c.ops.Do(c.r.Context(), "resolve", p); err == nil {
		now = o.(*spec.Object).String(spec.DigestField)
	}
	for _, d := range list {
		if now != "" && (d == now || d == "*") {
			return now
		}
	}
	return list[0]
}

// digests parses the list of a condition's header.
func digests(values []string, field string) (list []string, there bool, err error) {
	if len(values) == 0 {
		return nil, false, nil
	}
	for _, item := range strings.Split(strings.Join(values, ","), ",") {
		d := strings.Trim(item, " \t")
		if q, ok := strings.CutPrefix(d, `"`); ok && strings.HasSuffix(q, `"`) {
			d = strings.TrimSuffix(q, `"`)
		}
		if d == "" || strings.ContainsFunc(d, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' }) {
			return nil, false, badCondition(field, "a condition is a spec_digest, quoted or bare, a list of them, or *")
		}
		list = append(list, d)
	}
	return list, true, nil
}

func badCondition(field, message string) error {
	return diag.New(diag.InvalidInput, "%s", message).With("field", field)
}
