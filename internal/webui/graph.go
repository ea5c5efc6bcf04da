package webui

import (
	"slices"

	"larva.dev/larva/internal/spec"
)

// graph gives who may spawn whom: nodes {id, description, model, exists,
// spawn} and edges {from, to}, both sorted. spawn is any, listed or none; an
// id that a list names and nobody has is a node that does not exist.
func graph(_ *server, c *call) (any, error) {
	v, err := c.do("export", object("all", true))
	if err != nil {
		return nil, err
	}
	specs := v.([]*spec.Object)
	exists := make(map[string]bool, len(specs))
	for _, o := range specs {
		exists[o.String("id")] = true
	}
	nodes, edges := make([]any, 0, len(specs)), []any{}
	missing := []string{}
	for _, o := range specs {
		p := spec.FromObject(o)
		spawn := "none"
		if s := p.CanSpawn; s != nil && s.All {
			spawn = "any"
		} else if s != nil && len(s.IDs) > 0 {
			spawn = "listed"
			for _, to := range slices.Sorted(slices.Values(s.IDs)) {
				edges = append(edges, map[string]any{"from": p.ID, "to": to})
				if !exists[to] {
					missing = append(missing, to)
				}
			}
		}
		nodes = append(nodes, map[string]any{"id": p.ID, "description": p.Description, "model": p.Model, "exists": true, "spawn": spawn})
	}
	slices.Sort(missing)
	for _, id := range slices.Compact(missing) {
		nodes = append(nodes, map[string]any{"id": id, "description": "", "model": "", "exists": false, "spawn": "none"})
	}
	return map[string]any{"nodes": nodes, "edges": edges}, nil
}
