// Package file gives the model its file tools: read, write, write_files, edit,
// multi_edit, glob, grep.
//
// All share one desk. It remembers which files were read, and as what, so
// that nothing is overwritten unseen; and where each judged path led, so that
// a link swapped between judging and running is noticed.
package file

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/root"
	"larva.dev/larva/internal/tool"
)

// Options of the tools; the zero value is a working set without rg.
type Options struct {
	// Environ is the run's environment: its PATH is where rg is looked for.
	Environ []string
	// Denied reports whether a file that grep or glob meets on its way must
	// stay unseen. nil: none must.
	Denied func(abs, real string) bool
}

//go:embed *.md
var texts embed.FS

// Tools are the file tools of one run.
type Tools []tool.Tool

// New gives the tools of one run.
func New(rs *root.Set, o Options) Tools {
	d := &desk{rs: rs, o: o, seen: map[string]stamp{}, judged: map[string]string{}}
	return Tools{readTool{d}, writeTool{d}, writeFilesTool{d}, editTool{d}, multiEditTool{d}, globTool{d}, grepTool{d}}
}

func (t Tools) desk() *desk {
	for _, one := range t {
		if r, ok := one.(readTool); ok {
			return r.d
		}
	}
	return nil
}

// Forget drops what is known of files that were read: what a model no longer
// has before it, after a compaction say, it must read again before it writes.
func (t Tools) Forget() {
	if d := t.desk(); d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		clear(d.seen)
	}
}

// Seen says that the model has been shown this state of a file by other means
// than read: attached to a prompt, say. real has its links resolved.
func (t Tools) Seen(real string, fi fs.FileInfo) {
	if d := t.desk(); d != nil {
		d.note(real, fi)
	}
}

// desk is what the tools of one run share. Its two maps have no other owner;
// the lock is there because read-only calls run side by side.
type desk struct {
	rs *root.Set
	o  Options

	mu     sync.Mutex
	seen   map[string]stamp  // real path → as it was last read or written by us
	judged map[string]string // call and path → where it led when it was judged
}

// stamp tells one state of a file from the next.
type stamp struct {
	mod  time.Time
	size int64
}

func stampOf(fi fs.FileInfo) stamp { return stamp{fi.ModTime(), fi.Size()} }

func (d *desk) note(real string, fi fs.FileInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[real] = stampOf(fi)
}

// fresh is nil where the file was read in this run and is still what it was.
func (d *desk) fresh(p tool.Path, fi fs.FileInfo) error {
	d.mu.Lock()
	s, ok := d.seen[p.Real]
	d.mu.Unlock()
	if !ok {
		return fmt.Errorf("%s has not been read in this run; read it first", d.rs.Rel(p.Abs))
	}
	if now := stampOf(fi); !now.mod.Equal(s.mod) || now.size != s.size {
		return fmt.Errorf("%s has changed since it was read; read it again", d.rs.Rel(p.Abs))
	}
	return nil
}

// maxJudged bounds the memory of judged paths: far more than calls can wait at
// one time.
const maxJudged = 4096

// effects states the facts of a call that names one path, and remembers them.
func (d *desk) effects(c tool.Call, given string, write bool) tool.Effects {
	return d.effectsOf(c, []string{given}, write)
}

// effectsOf does so for several.
func (d *desk) effectsOf(c tool.Call, given []string, write bool) tool.Effects {
	posture := capability.ReadOnly
	if write {
		posture = capability.ReadWrite
	}
	eff := tool.Effects{Needs: []capability.Need{{Family: "filesystem", Posture: posture}}, ReadOnly: !write, Touches: true}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.judged) >= maxJudged {
		clear(d.judged)
	}
	for _, g := range given {
		p := d.rs.Resolve(g, write)
		d.judged[judgedKey(c, g)] = p.Real
		eff.Paths = append(eff.Paths, p)
	}
	return eff
}

func judgedKey(c tool.Call, given string) string { return c.Tool + "\x00" + c.ID + "\x00" + given }

var errMoved = errors.New("the path leads elsewhere than when it was judged")

// resolve gives the path again for running. It must still lead where it led
// when it was judged; one that nobody judged must lie inside the roots.
func (d *desk) resolve(c tool.Call, given string, write bool) (tool.Path, error) {
	if given == "" {
		return tool.Path{}, errors.New("path is empty")
	}
	p := d.rs.Resolve(given, write)
	d.mu.Lock()
	real, ok := d.judged[judgedKey(c, given)]
	d.mu.Unlock()
	if ok && real != p.Real || !ok && p.Outside {
		return p, fmt.Errorf("%s: %w", given, errMoved)
	}
	return p, nil
}

// decode reads a call's input. Numbers are float64 on purpose: 10.0 is an
// integer for JSON Schema.
func decode(c tool.Call, into any) error {
	if err := json.Unmarshal(c.Input, into); err != nil {
		return fmt.Errorf("%s: arguments: %w", c.Tool, err)
	}
	return nil
}

// spec builds what the model is told; the description lies in name.md.
func spec(name, schema string, parallel bool) tool.Spec {
	text, err := texts.ReadFile(name + ".md")
	if err != nil {
		panic(err) // embedded: missing only if the build is broken
	}
	return tool.Spec{Name: name, Description: string(text), Schema: json.RawMessage(schema), Parallel: parallel}
}

// fail makes an error the model's to read: the path as it would write it and
// the plain reason.
func (d *desk) fail(p tool.Path, err error) tool.Result {
	shown := d.rs.Rel(p.Abs)
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tool.Fail("%s: no such file or directory", shown)
	case errors.Is(err, fs.ErrPermission):
		return tool.Fail("%s: permission denied", shown)
	case errors.As(err, &pe):
		return tool.Fail("%s: %v", shown, pe.Err)
	case errors.As(err, &le):
		return tool.Fail("%s: %v", shown, le.Err)
	}
	return tool.Fail("%v", err)
}
