package agent

import (
	"fmt"
	"hash/fnv"

	"larva.dev/larva/internal/model"
)

// The guard trips when one step stands four times among the last eight: the
// model is asking the same and being told the same.
const (
	guardWindow = 8
	guardSame   = 4
)

// guard watches for a model that goes in circles.
type guard struct{ steps []uint64 }

// sees takes one step, every call with its result, and says whether it has
// come too often. After a trip it starts afresh.
func (g *guard) sees(calls []model.Call, results []model.Result) bool {
	h := fnv.New64a()
	for i, c := range calls {
		// lengths keep one field from running into the next
		fmt.Fprintf(h, "%d:%s%d:%s%d:%s", len(c.Tool), c.Tool, len(c.Input)+len(c.Broken), string(c.Input)+c.Broken, len(results[i].Output), results[i].Output)
	}
	g.steps = append(g.steps, h.Sum64())
	if len(g.steps) > guardWindow {
		g.steps = g.steps[1:]
	}
	same := 0
	for _, s := range g.steps {
		if s == h.Sum64() {
			same++
		}
	}
	if same < guardSame {
		return false
	}
	g.steps = nil
	return true
}
