package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/spec"
)

// The personas of the table: kelp has two variants, moss one; fern is new.
const (
	kelpContract = `{"id":"kelp","description":"Reviews kelp forests for damage and regrowth.","capabilities":{"filesystem":"read_only","shell":"none"},"can_spawn":["moss"],"spec_version":"0.1.0"}`
	kelpDefault  = `{"prompt":"You look after kelp.","model":"acme/gamma-2","model_params":{"n":1,"temperature":0.2}}`
	kelpTerse    = `{"prompt":"Be terse.","model":"acme/tiny"}`
	mossContract = `{"id":"moss","description":"Looks after moss in the shade.","capabilities":{"shell":"none","git":"read_only"},"spec_version":"0.1.0"}`
	mossDefault  = `{"prompt":"You look after moss.","model":"acme/gamma-2","compaction_prompt":"Keep what is green."}`
)

var (
	kelp  = with(kelpContract, kelpDefault)
	terse = with(kelpContract, kelpTerse)
	moss  = with(mossContract, mossDefault)
	fern  = `{"id":"fern","description":"Looks after ferns in the woods.","capabilities":{"shell":"read_only"},"spec_version":"0.1.0","prompt":"You look after ferns.","model":"acme/gamma-2"}`
)

// crowded is a variant with as many model_params as an object may have.
var crowded = func() string {
	var b strings.Builder
	b.WriteString(`{"prompt":"p","model":"m","model_params":{"p0":0`)
	for i := 1; i < 1000; i++ {
		fmt.Fprintf(&b, `,"p%d":0`, i)
	}
	return b.String() + "}}"
}()

// with lays the fields of over over those of a JSON object.
func with(object, over string) string {
	var a, b map[string]any
	if err := exact([]byte(object), &a); err != nil {
		panic(err)
	}
	if err := exact([]byte(over), &b); err != nil {
		panic(err)
	}
	for k, v := range b {
		a[k] = v
	}
	return compact(a)
}

func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

func digest(text string) string {
	o, err := spec.ParseObject([]byte(text))
	if err != nil {
		panic(err)
	}
	return spec.Digest(o)
}

func summary(text string) string {
	var s map[string]any
	if err := exact([]byte(text), &s); err != nil {
		panic(err)
	}
	return compact(map[string]any{"id": s["id"], "description": s["description"], "model": s["model"], "capabilities": s["capabilities"], "spec_digest": digest(text)})
}

// Wanted failures.

func failure(code, details string) string {
	return `{"error":{"code":"` + code + `","details":{` + details + `}}}`
}

// refused is a call whose parameters are none of the operation's.
func refused(details string) string { return failure("INVALID_INPUT", details) }

func corruptAt(id, path string) string {
	return failure("REGISTRY_CORRUPT", `"persona_id":"`+id+`","path":"{ROOT}/`+path+`"`)
}

// failedAt takes the id as JSON and the path from the registry's directory on.
func failedAt(code, id, path string) string {
	return failure(code, `"persona_id":`+id+`,"path":"{ROOT}`+path+`"`)
}

func invalid(issues string) string { return invalidWarned(0, issues) }

func invalidWarned(warnings int, issues string) string {
	return failure("PERSONA_INVALID", fmt.Sprintf(`"report":{"valid":false,"warnings":%d,"errors":[%s]}`, warnings, issues))
}

// layout makes a registry in a directory that is not there yet.
type layout func(root string) error

// step changes one that is laid out.
type step func(root string) error

func (l layout) and(steps ...step) layout {
	return func(root string) error {
		if err := l(root); err != nil {
			return err
		}
		for _, s := range steps {
			if err := s(root); err != nil {
				return err
			}
		}
		return nil
	}
}

var (
	none layout = func(string) error { return nil }
	two         = none.and(
		put("kelp/contract.json", kelpContract), put("kelp/variants/default.json", kelpDefault), put("kelp/variants/terse.json", kelpTerse), put("kelp/manifest.json", `{"active":"default"}`),
		put("moss/contract.json", mossContract), put("moss/variants/default.json", mossDefault), put("moss/manifest.json", `{"active":"default"}`))
	rootIsFile layout = func(root string) error { return os.WriteFile(root, []byte("in the way"), 0o600) }
	bare              = none.and(dir("kelp")) // what the place deep has room for
)

func put(path, text string) step {
	return func(root string) error {
		path := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(text), 0o600)
	}
}

func drop(path string) step {
	return func(root string) error { return os.RemoveAll(filepath.Join(root, path)) }
}

func dir(path string) step {
	return func(root string) error { return os.MkdirAll(filepath.Join(root, path), 0o700) }
}

func link(path, to string) step {
	return func(root string) error { return os.Symlink(to, filepath.Join(root, path)) }
}
