package load

import (
	"context"
	"io/fs"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/profile"
)

// SpecsFS reads a shipped tree.
func SpecsFS(ctx context.Context, fsys fs.FS, name string) ([]Item, error) { return nil, ctx.Err() }

// Profile reads a profile or config file.
func Profile(ctx context.Context, path string, o Options) (profile.Layer, error) {
	return ProfileNamed(ctx, path, "", o)
}

// ProfileNamed reads the named profile of a file.
func ProfileNamed(ctx context.Context, path, name string, o Options) (profile.Layer, error) {
	return profile.Layer{}, diag.New(diag.Unsupported, "profiles are not read yet")
}

// ProfilesFS reads shipped profiles by name.
func ProfilesFS(ctx context.Context, fsys fs.FS) (map[string]profile.Layer, error) {
	return nil, ctx.Err()
}

// Scenario reads a scenario file.
func Scenario(ctx context.Context, path string, o Options) (profile.Scenario, error) {
	return profile.Scenario{}, diag.New(diag.Unsupported, "scenarios are not read yet")
}

// Init writes a starter repository.
func Init(dir string) ([]string, error) {
	return nil, diag.New(diag.Unsupported, "init is not there yet")
}
