package arch

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "larva.dev/larva/"

// TestHouse checks every Go file of the tree.
func TestHouse(t *testing.T) {
	t.Parallel()
	got, files := violations(t, os.DirFS("../.."))
	if files < 50 {
		t.Fatalf("looked at %d files, want the whole tree", files)
	}
	for _, v := range got {
		t.Error(v)
	}
}

// TestPlantedViolations shows that the check can fail, once for each kind.
func TestPlantedViolations(t *testing.T) {
	t.Parallel()
	file := func(imp string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("package x\n\nimport _ " + strconv.Quote(imp) + "\n")}
	}
	tree := fstest.MapFS{
		"internal/registry/a.go":       file(module + "internal/load"),
		"internal/tool/file/b.go":      file(module + "internal/tool/shell"),
		"internal/cli/c.go":            file("cuelang.org/go/cue"),
		"internal/agent/d.go":          file("os/exec"),
		"internal/permission/e.go":     file("os"),
		"internal/nobody/f.go":         file("fmt"),
		"internal/app/g.go":            file("github.com/alecthomas/kong"),
		"internal/spec/ok.go":          file("strings"),
		"internal/spec/gone/x_test.go": file("fmt"),
	}
	got, _ := violations(t, tree)
	want := []string{
		"internal/agent/d.go: os/exec belongs to " + owners["os/exec"],
		"internal/app/g.go: github.com/alecthomas/kong belongs to " + owners["github.com/alecthomas/kong"],
		"internal/cli/c.go: cuelang.org/go belongs to " + owners["cuelang.org/go"],
		"internal/nobody/f.go: room nobody is not in rooms_test.go",
		"internal/permission/e.go: permission never touches the machine, but imports os",
		"internal/registry/a.go: registry may not import load",
		"internal/spec/gone/x_test.go: room spec/gone is not in rooms_test.go",
		"internal/tool/file/b.go: tool/file may not import tool/shell",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// violations walks the tree and returns sorted sentences, and the number of
// Go files seen. Test files may import any room and the outside packages
// that tests need; they still have to live in a known room.
func violations(t *testing.T, tree fs.FS) (out []string, files int) {
	t.Helper()
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); p != "." && (strings.HasPrefix(n, ".") || n == "node_modules" || n == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		files++
		src, err := fs.ReadFile(tree, p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if bad := unknownRoom(p); bad != "" {
			out = append(out, bad)
			return nil
		}
		for _, imp := range f.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			if v := judge(p, name); v != "" {
				out = append(out, p+": "+v)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out, files
}

func unknownRoom(file string) string {
	room, ok := strings.CutPrefix(path.Dir(file), "internal/")
	if !ok {
		return ""
	}
	if _, ok := rooms[room]; !ok {
		return fmt.Sprintf("%s: room %s is not in rooms_test.go", file, room)
	}
	return ""
}

func judge(file, imp string) string {
	dir := path.Dir(file)
	test := strings.HasSuffix(file, "_test.go")
	room, isRoom := strings.CutPrefix(dir, "internal/")
	if inner, ok := strings.CutPrefix(imp, module); ok {
		if !isRoom || test {
			return ""
		}
		if other := strings.TrimPrefix(inner, "internal/"); other != room && !mayImport(room, other) {
			return fmt.Sprintf("%s may not import %s", room, other)
		}
		return ""
	}
	for prefix, who := range owners {
		if !below(imp, prefix) || slices.Contains(strings.Fields(who), dir) {
			continue
		}
		if test && testMay(prefix) {
			continue
		}
		return fmt.Sprintf("%s belongs to %s", prefix, who)
	}
	if isRoom && !test && slices.Contains(strings.Fields(noOS), room) && touchesMachine(imp) {
		return fmt.Sprintf("%s never touches the machine, but imports %s", room, imp)
	}
	return ""
}

func mayImport(room, other string) bool {
	allowed := rooms[room]
	if allowed == "*" {
		return other != "cli"
	}
	for _, a := range strings.Fields(allowed) {
		if a == other || a == "words" && slices.Contains(strings.Fields(words), other) {
			return true
		}
	}
	return false
}

func below(imp, prefix string) bool {
	return imp == prefix || strings.HasPrefix(imp, strings.TrimSuffix(prefix, "/")+"/")
}

// testMay lists what tests of any room may use: they start real programs and
// servers, and script the command line.
func testMay(prefix string) bool {
	return slices.Contains([]string{"os/exec", "net/http", "github.com/rogpeppe/go-internal", "github.com/santhosh-tekuri"}, prefix)
}

func touchesMachine(imp string) bool {
	return imp == "os" || strings.HasPrefix(imp, "os/") || imp == "net" || strings.HasPrefix(imp, "net/") && imp != "net/url" || imp == "syscall" || imp == "io/ioutil"
}
