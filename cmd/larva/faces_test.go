package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The faces of the registry, in the order of the table's columns.
const (
	onCLI    = "cli"
	onMCP    = "mcp"
	onREST   = "rest"
	onPython = "python"
)

var allFaces = []string{onCLI, onMCP, onREST, onPython}

// faceRow is one call in one registry, and its one answer on all faces.
type faceRow struct {
	name   string
	op     string
	params string // a JSON object
	// state lays out the registry; nil is two. It gets its directory.
	state layout
	place place // of the registry; "" is usual
	// want is {"data":…}, or {"error":{"code","details"}}: the number is the
	// contract's, the message any, and the same everywhere. {ROOT} is the
	// registry's directory; in specs, spec_digest is filled in. "" asks only
	// that the faces agree.
	want string
	not  map[string]string // face → why it cannot put this call
	// match is REST's If-Match.
	match string
}

// place is where a registry lies and what the caller's environment is.
type place string

const (
	usual  place = "usual"
	nested place = "nested" // LARVA_DEPTH is set: the caller is an agent in a run
	deep   place = "deep"   // so far down that .aside has room, and a persona's name in it has none
)

var places = []place{usual, nested, deep}

// caller is one face with its own registry directory.
type caller interface {
	// call gives {"data":…} or {"error":…} as the face gave it.
	call(t *testing.T, row faceRow, params map[string]any) []byte
}

// facePlace is what a face knows of its place: the environment and, from it,
// the registry.
type facePlace struct {
	name  place
	home  string // HOME
	larva string // LARVA_HOME
	work  string // for files
}

func (p facePlace) root() string { return filepath.Join(p.larva, "registry") }

func (p facePlace) env() []string {
	env := []string{"HOME=" + p.home, "LARVA_HOME=" + p.larva, "PATH=/usr/bin:/bin", "LARVA_DEPTH="}
	if p.name == nested {
		env[3] += "1"
	}
	return env
}

// faceResult is what one face said to one row, and what the disk held then.
type faceResult struct {
	answer any
	disk   map[string]string
}

// TestFaces runs the whole table on every face and holds the answers
// together, and what they leave on the disk.
func TestFaces(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the ways in which a disk fails here are Unix ones")
	}
	rows := faceRows()
	checkTable(t, rows)
	const generated = 100
	rows = append(rows, generatedRows(generated)...)
	results := map[string][]*faceResult{}
	for _, f := range allFaces {
		results[f] = make([]*faceResult, len(rows))
	}
	t.Run("on", func(t *testing.T) {
		for _, f := range allFaces {
			t.Run(f, func(t *testing.T) {
				t.Parallel()
				runFace(t, f, rows, results[f])
			})
		}
	})
	if t.Failed() {
		return
	}
	calls := 0
	for i, row := range rows {
		calls += compareFaces(t, row, i, results)
	}
	if !t.Failed() {
		t.Logf("COUNT %d rows and %d generated ones, %d calls on four faces: the answers and what is left on the disk are equal", len(rows)-generated, generated, calls)
	}
}

func runFace(t *testing.T, face string, rows []faceRow, results []*faceResult) {
	for _, name := range places {
		p := newPlace(t, name)
		c := open(t, face, p)
		for i, row := range rows {
			if row.at() != name || row.not[face] != "" {
				continue
			}
			if r := oneRow(t, face, c, p, row); r != nil {
				results[i] = r
			}
		}
	}
}

func (r faceRow) at() place {
	if r.place == "" {
		return usual
	}
	return r.place
}

func open(t *testing.T, face string, p facePlace) caller {
	switch face {
	case onCLI:
		return cliFace{p}
	case onMCP:
		return openMCP(t, p)
	case onREST:
		return openREST(t, p)
	}
	return openPython(t, p)
}

func newPlace(t *testing.T, name place) facePlace {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := facePlace{name: name, home: filepath.Join(base, "home"), larva: filepath.Join(base, "larva"), work: filepath.Join(base, "work")}
	if name == deep {
		p.larva = deepen(p.larva)
	}
	for _, d := range []string{p.home, p.larva, p.work} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// deepen makes a path so long that ROOT/.aside is a name the system takes and
// ROOT/.aside/old-kelp is not.
func deepen(path string) string {
	longest := 4095 // of a path on Linux
	if runtime.GOOS == "darwin" {
		longest = 1023
	}
	want := longest - len("/registry/.aside")
	for len(path) < want-130 {
		path = filepath.Join(path, strings.Repeat("d", 100))
	}
	return filepath.Join(path, strings.Repeat("d", want-len(path)-1))
}

// oneRow lays the registry out, calls, and looks at the answer and the disk.
func oneRow(t *testing.T, face string, c caller, p facePlace, row faceRow) *faceResult {
	if err := os.RemoveAll(p.root()); err != nil {
		t.Fatal(err)
	}
	state := row.state
	if state == nil {
		state = two
	}
	if err := state(p.root()); err != nil {
		t.Fatalf("%s: lay out the registry: %v", row.name, err)
	}
	before := diskOf(t, p.root())
	var params map[string]any
	if err := exact([]byte(row.params), &params); err != nil {
		t.Fatalf("%s: params: %v", row.name, err)
	}
	text := c.call(t, row, params)
	if text == nil {
		return nil
	}
	var answer any
	if err := exact(placeless(text, p.root()), &answer); err != nil {
		t.Errorf("%s: %s gives no JSON: %v: %.200s", row.name, face, err, text)
		return nil
	}
	after := diskOf(t, p.root())
	if envelope, ok := answer.(map[string]any); !ok || envelope["data"] == nil {
		if d := cmp.Diff(after, before); d != "" {
			t.Errorf("%s: %s fails and leaves the disk changed (-after +before):\n%s", row.name, face, d)
		}
	}
	return &faceResult{answer, after}
}

// placeless replaces the registry's directory in a JSON text.
func placeless(text []byte, root string) []byte {
	quoted, err := json.Marshal(root)
	if err != nil {
		return text
	}
	return bytes.ReplaceAll(text, bytes.Trim(quoted, `"`), []byte("{ROOT}"))
}

// diskOf is every file of the registry by its path, leaving out what writers
// keep for themselves.
func diskOf(t *testing.T, root string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if os.IsNotExist(err) {
				return nil
			}
			return err
		}
		name, _ := filepath.Rel(root, path)
		if name == ".lock" || name == ".aside" {
			return nil
		}
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			got[name] = "-> " + to
			return err
		case d.IsDir():
			got[name] = "dir"
			return nil
		}
		data, err := os.ReadFile(path)
		got[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == 1 && got["."] == "dir" {
		return map[string]string{} // an empty registry is none
	}
	return got
}

// compareFaces holds one row's answers to what it wants and to each other.
func compareFaces(t *testing.T, row faceRow, i int, results map[string][]*faceResult) (calls int) {
	var want any // nil for a generated row
	if row.want != "" {
		if err := exact([]byte(row.want), &want); err != nil {
			t.Fatalf("%s: want: %v", row.name, err)
		}
		fillDigests(t, want)
	}
	first := ""
	for _, f := range allFaces {
		r := results[f][i]
		if r == nil {
			continue
		}
		calls++
		if d := cmp.Diff(worded(r.answer), numbered(want)); want != nil && d != "" {
			t.Errorf("%s: %s (-got +want):\n%s", row.name, f, d)
		}
		if first == "" {
			first = f
			continue
		}
		if d := cmp.Diff(r.answer, results[first][i].answer); d != "" {
			t.Errorf("%s: %s and %s give different answers (-%s +%s):\n%s", row.name, f, first, f, first, d)
		}
		if d := cmp.Diff(r.disk, results[first][i].disk); d != "" {
			t.Errorf("%s: %s and %s leave different files (-%s +%s):\n%s", row.name, f, first, f, first, d)
		}
	}
	return calls
}

// worded is an answer with its messages checked and taken out, and its
// warnings counted: words are compared between the faces alone.
func worded(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = worded(item)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, item := range v {
			warnings, isList := item.([]any)
			switch {
			case k == "message" && v["code"] != nil && item != "":
			case k == "warnings" && isList && v["valid"] != nil:
				out[k] = json.Number(fmt.Sprint(len(warnings)))
			default:
				out[k] = worded(item)
			}
		}
		return out
	}
	return v
}

// numbered gives a wanted error the contract's number of its code.
func numbered(want any) any {
	w, _ := want.(map[string]any)
	e, ok := w["error"].(map[string]any)
	if !ok {
		return want
	}
	code, _ := e["code"].(string)
	return map[string]any{"error": map[string]any{"code": code, "details": e["details"], "numeric_code": json.Number(fmt.Sprint(contractNumbers[code]))}}
}

// checkTable holds the table itself to the contract: each code that an
// operation can emit has its row, each row's code is one that it can, and a
// face is left out for a reason only.
func checkTable(t *testing.T, rows []faceRow) {
	t.Helper()
	const want = 238
	if len(rows) != want {
		t.Errorf("got %d rows, want %d: a row went or came without anybody saying so", len(rows), want)
	}
	seen := map[string]bool{}
	names := map[string]bool{}
	for _, r := range rows {
		if names[r.name] {
			t.Errorf("two rows are called %q", r.name)
		}
		names[r.name] = true
		var w struct{ Error struct{ Code string } }
		if err := json.Unmarshal([]byte(r.want), &w); err != nil {
			t.Errorf("%s: want: %v", r.name, err)
		}
		code := w.Error.Code
		if code == "" {
			code = "ok"
		}
		if !slices.Contains(emits[r.op], code) {
			t.Errorf("%s: the list of what %s can emit does not have %s", r.name, r.op, code)
		}
		seen[r.op+" "+code] = true
		for face, why := range r.not {
			if !slices.Contains(allFaces, face) || why == "" {
				t.Errorf("%s: left out on %q for the reason %q", r.name, face, why)
			}
		}
		if len(r.not) == len(allFaces) {
			t.Errorf("%s: no face can put it", r.name)
		}
	}
	emitted := map[string]bool{"ok": true}
	for op, codes := range emits {
		for _, code := range codes {
			emitted[code] = true
			if !seen[op+" "+code] {
				t.Errorf("%s: no row has the answer %s", op, code)
			}
			if hard[op+" "+code] != "" {
				t.Errorf("%s: %s is listed as too hard to show, and as shown", op, code)
			}
		}
	}
	for code := range contractNumbers {
		_, never := neverEmitted[code]
		if emitted[code] == never {
			t.Errorf("%s: emitted by an operation: %t, listed as never emitted: %t; want exactly one", code, emitted[code], never)
		}
	}
	for code, why := range neverEmitted {
		if _, ok := contractNumbers[code]; !ok || why == "" {
			t.Errorf("%s: listed as never emitted, for the reason %q; want a code of the contract and a reason", code, why)
		}
	}
}
