package file

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"larva.dev/larva/internal/proc"
)

const (
	batchFiles = 256
	batchBytes = 64 << 10 // of names, well below what a command line takes
)

// searcher takes files in the walk's order, searches them a batch at a time
// side by side, and gives their matches in that order.
//
// rg, where it is there, only says which files of a batch hold a match; the
// lines are ours in either case, so the result does not depend on it.
type searcher struct {
	w     *walk
	m     *matcher
	rg    *rg
	hits  *hits
	batch []string
	bytes int
}

func (s *searcher) take(ctx context.Context, rel string) error {
	s.batch = append(s.batch, rel)
	s.bytes += len(rel) + 3
	if len(s.batch) < batchFiles && s.bytes < batchBytes {
		return nil
	}
	return s.flush(ctx)
}

func (s *searcher) flush(ctx context.Context) error {
	batch := s.batch
	s.hits.files += len(batch)
	if s.rg != nil && s.m.rough != "" && len(batch) > 0 {
		batch = s.rg.holding(ctx, s.w.start.Real, s.m.rough, batch)
	}
	found := make([]fileHits, len(batch))
	var g errgroup.Group
	g.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for i, rel := range batch {
		g.Go(func() error {
			found[i] = s.one(ctx, rel)
			return nil
		})
	}
	_ = g.Wait() // results carry their own errors
	for i, rel := range batch {
		if err := s.hits.add(s.w.shown(rel), found[i]); err != nil {
			return err
		}
	}
	s.batch, s.bytes = s.batch[:0], 0
	return ctx.Err()
}

// one searches a file of the walk. What cannot be read, is binary, or is no
// longer a file is passed over.
func (s *searcher) one(ctx context.Context, rel string) fileHits {
	dir, name := filepath.Split(filepath.FromSlash(rel))
	r, err := s.w.dir.OpenRoot(filepath.Join(".", dir))
	if err != nil {
		return fileHits{}
	}
	defer r.Close()
	f, fi, err := openIn(r, name)
	if err != nil {
		return fileHits{}
	}
	defer f.Close()
	found := s.m.file(ctx, f, fi.Size())
	if found.err != nil && !errors.Is(found.err, context.Canceled) {
		return fileHits{}
	}
	return found
}

// rg is ripgrep, found in the run's own PATH.
type rg struct {
	path string
	env  []string
}

// findRg gives nil where there is none. One that lies inside the roots is not
// taken: grep must not run a program of the project.
func findRg(d *desk) *rg {
	path, err := proc.LookPath("rg", d.o.Environ)
	if err != nil || !d.rs.Resolve(path, false).Outside {
		return nil
	}
	return &rg{path: path, env: proc.Env(d.o.Environ)}
}

// holding gives the files of batch that hold a match, in batch's order; all of
// them when rg fails or does not understand the expression.
func (r *rg) holding(ctx context.Context, dir, pattern string, batch []string) []string {
	argv := []string{r.path, "--no-config", "--no-messages", "--files-with-matches", "--null", "--color=never",
		"--text", "--encoding=none", "--no-ignore", "--hidden", "--regexp", pattern, "--"}
	for _, rel := range batch {
		argv = append(argv, "./"+rel)
	}
	res, err := proc.Run(ctx, proc.Command{Argv: argv, Dir: dir, Env: r.env, MaxOutput: 4 * batchBytes})
	// 0 is matches, 1 is none, 2 is an error, perhaps in one file only.
	if err != nil || res.Exit > 1 || res.Exit < 0 || res.Truncated || res.TimedOut || res.Cancelled {
		return batch
	}
	holds := map[string]bool{}
	for name := range strings.SplitSeq(string(res.Stdout), "\x00") {
		holds[strings.TrimPrefix(name, "./")] = true
	}
	out := batch[:0:0]
	for _, rel := range batch {
		if holds[rel] {
			out = append(out, rel)
		}
	}
	return out
}
