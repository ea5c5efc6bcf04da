package load

import (
	"context"
	"encoding/json"

	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
)

// PermissionTest reads a table of calls: one #PermissionTest at the top level,
// in any of the formats. origins maps a dotted path in it (cases.3.tool,
// permissions.allow.0) to file:line.
func PermissionTest(ctx context.Context, path string, o Options) (t profile.PermissionTest, origins map[string]string, err error) {
	d, err := o.document(ctx, path, "permission-test", "")
	if err != nil {
		return t, nil, err
	}
	if err := d.fits("#PermissionTest", nil); err != nil {
		return t, nil, err
	}
	if err := json.Unmarshal(spec.AppendCanonical(nil, d.root), &t); err != nil {
		return t, nil, d.undecodable(nil, err)
	}
	origins = map[string]string{}
	d.origins(d.root, nil, nil, origins)
	return t, origins, nil
}
