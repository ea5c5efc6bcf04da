// Command types type-checks the module for other systems from source, without
// compiling anything: types GOOS…. Bodies of outside packages are not looked
// at, so it takes seconds where a cross build takes minutes.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

type pkg struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
	DepsErrors      []struct{ Err string }
	Error           *struct{ Err string }
}

func main() { os.Exit(run(os.Args[1:])) }

// run checks the systems side by side, each on its own, and reports in order.
func run(systems []string) int {
	type report struct {
		ours int
		errs []error
	}
	reports := make([]report, len(systems))
	var wg sync.WaitGroup
	for i, goos := range systems {
		wg.Add(1)
		go func() {
			defer wg.Done()
			reports[i].ours, reports[i].errs = check(goos)
		}()
	}
	wg.Wait()
	bad := 0
	for i, r := range reports {
		for _, err := range r.errs {
			fmt.Fprintf(os.Stderr, "%s: %v\n", systems[i], err)
		}
		fmt.Printf("%s: %d packages of ours, %d errors\n", systems[i], r.ours, len(r.errs))
		bad += len(r.errs)
	}
	if bad > 0 {
		return 1
	}
	return 0
}

func check(goos string) (ours int, errs []error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,ImportPath,GoFiles,ImportMap,Module,Error", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, []error{err}
	}
	if err := cmd.Start(); err != nil {
		return 0, []error{err}
	}
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	fset := token.NewFileSet()
	for dec := json.NewDecoder(out); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			errs = append(errs, err)
			break
		}
		if p.Error != nil {
			errs = append(errs, errors.New(p.Error.Err))
		}
		mine := p.Module != nil && p.Module.Main
		got, bad := one(fset, p, done, mine)
		done[p.ImportPath] = got
		if mine {
			ours++
			errs = append(errs, bad...)
		}
	}
	return ours, append(errs, wait(cmd)...)
}

func wait(cmd *exec.Cmd) []error {
	if err := cmd.Wait(); err != nil {
		return []error{fmt.Errorf("go list: %w", err)}
	}
	return nil
}

// imports looks packages up among those already checked; go list -deps names
// each package after all that it imports.
type imports struct {
	done map[string]*types.Package
	via  map[string]string
}

func (i imports) Import(name string) (*types.Package, error) {
	if to, ok := i.via[name]; ok {
		name = to
	}
	if p := i.done[name]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is not loaded", name)
}

func one(fset *token.FileSet, p pkg, done map[string]*types.Package, mine bool) (*types.Package, []error) {
	if p.ImportPath == "unsafe" {
		return types.Unsafe, nil
	}
	var files []*ast.File
	var errs []error
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			errs = append(errs, err)
		}
		if f != nil {
			files = append(files, f)
		}
	}
	conf := types.Config{
		Importer:         imports{done, p.ImportMap},
		IgnoreFuncBodies: !mine,
		FakeImportC:      true,
		Sizes:            types.SizesFor("gc", "amd64"),
		GoVersion:        runtimeVersion(),
		Error:            func(err error) { errs = append(errs, err) },
	}
	got, _ := conf.Check(p.ImportPath, fset, files, nil) // errors came through Error
	return got, errs
}

func runtimeVersion() string {
	v := runtime.Version()
	for i, c := range v {
		if c == ' ' || c == '-' {
			return v[:i]
		}
	}
	return v
}
