package load

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"cuelang.org/go/cue/inject/embed"
	"cuelang.org/go/cue/parser"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
)

// SpecsFS reads the personas of a tree that is part of this program: one CUE
// package in the root of fsys, with its prompts beside it. name is the
// directory by which its files are called. It is trusted.
func SpecsFS(ctx context.Context, fsys fs.FS, name string) ([]Item, error) {
	u, err := shippedUnit(fsys, name, "personas")
	if err != nil {
		return nil, err
	}
	outs, err := Options{Trusted: true}.run(ctx, []*unit{u})
	if err != nil {
		return nil, err
	}
	return u.items(outs[0], true), nil
}

// ProfilesFS reads the shipped profiles by name: one CUE package in the root of
// fsys. Their files are called profiles/NAME.cue. It is trusted.
func ProfilesFS(ctx context.Context, fsys fs.FS) (map[string]profile.Layer, error) {
	u, err := shippedUnit(fsys, "profiles", "profile")
	if err != nil {
		return nil, err
	}
	d, err := Options{Trusted: true}.evaluated(ctx, u)
	if err != nil {
		return nil, err
	}
	layers := map[string]profile.Layer{}
	set, _ := d.get("profiles")
	o, ok := set.(*spec.Object)
	if !ok {
		return layers, nil
	}
	for _, m := range o.Members {
		l, err := d.layer([]string{"profiles", m.Key})
		if err != nil {
			return nil, err
		}
		if file, _, _ := d.keyAt("profiles", m.Key); file != "" {
			l.File = file
		}
		layers[m.Key] = l
	}
	return layers, nil
}

// shippedUnit takes the package in the root of fsys: every CUE file there and
// every text that they embed.
func shippedUnit(fsys fs.FS, name, want string) (*unit, error) {
	u := &unit{Shown: name, Files: map[string][]byte{}, Names: map[string]string{}, Schema: vendored, Dir: ".", Want: want}
	files, err := fs.Glob(fsys, "*.cue")
	if err != nil {
		return nil, err
	}
	put := func(rel string) ([]byte, error) {
		data, err := fs.ReadFile(fsys, rel)
		if err == nil {
			u.Files[rel], u.Names[rel] = data, path.Join(name, rel)
		}
		return data, err
	}
	for _, rel := range files {
		if strings.HasSuffix(rel, "_test.cue") || strings.HasSuffix(rel, "_tool.cue") {
			continue
		}
		data, err := put(rel)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(rel, data, parser.ParseComments)
		if err != nil {
			return nil, diag.New(diag.Internal, "%s/%s: %s", name, rel, oneLine(err.Error()))
		}
		u.Package = f.PackageName()
		embeds, eerr := embed.EmbeddedPaths(rel, f)
		if eerr != nil {
			return nil, diag.New(diag.Internal, "%s/%s: %s", name, rel, oneLine(eerr.Error()))
		}
		for _, e := range embeds {
			found, err := e.FindAll(fsys)
			if err != nil {
				return nil, diag.New(diag.Internal, "%s/%s: %s", name, rel, oneLine(err.Error()))
			}
			for _, text := range found {
				if _, err := put(text); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(u.Files) == 0 {
		return nil, diag.New(diag.Internal, "%s holds no CUE", name)
	}
	return u, nil
}
