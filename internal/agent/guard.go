package agent

import (
	"hash/fnv"
	"io"
	"strconv"

	"larva.dev/larva/internal/model"
)

// The guard trips when one step stands four times among the last eight: the
// model is asking the same and being told the same. One call that is repeated
// beside others trips it too, unless what stood beside it changed something.
const (
	guardWindow = 8
	guardSame   = 4
)

// guard watches for a model that goes in circles.
type guard struct {
	steps []uint64
	// calls are the signatures of the single calls of each step since the last
	// one that got anywhere.
	calls []map[uint64]bool
}

// sees takes one step, every call with its result, and says whether it has
// come too often. changed says which calls changed something. After a trip it
// starts afresh.
func (g *guard) sees(calls []model.Call, results []model.Result, changed []bool) bool {
	whole := fnv.New64a()
	single := map[uint64]bool{}
	progress := false
	for i, c := range calls {
		s := signature(c, results[i])
		io.WriteString(whole, strconv.FormatUint(s, 16)+" ")
		single[s] = true
		progress = progress || i < len(changed) && changed[i] && !g.knows(s)
	}
	g.steps = last(append(g.steps, whole.Sum64()))
	if progress {
		g.calls = nil
	}
	g.calls = last(append(g.calls, single))
	if count(g.steps, func(s uint64) bool { return s == whole.Sum64() }) < guardSame && !g.repeats(single) {
		return false
	}
	*g = guard{}
	return true
}

func (g *guard) knows(s uint64) bool {
	return count(g.calls, func(m map[uint64]bool) bool { return m[s] }) > 0
}

func (g *guard) repeats(single map[uint64]bool) bool {
	for s := range single {
		if count(g.calls, func(m map[uint64]bool) bool { return m[s] }) >= guardSame {
			return true
		}
	}
	return false
}

// signature is one call with its result. What differs from one try to the
// next by itself counts as the same: in the result every number, time,
// duration and id; in the input, where a number is what the model means, only
// times and random ids.
func signature(c model.Call, r model.Result) uint64 {
	h := fnv.New64a()
	for _, field := range []string{c.Tool, blur(string(c.Input)+c.Broken, isMoment), blur(r.Output, isVolatile)} {
		// lengths keep one field from running into the next
		io.WriteString(h, strconv.Itoa(len(field))+":"+field)
	}
	return h.Sum64()
}

func last[T any](list []T) []T { return list[max(0, len(list)-guardWindow):] }

func count[T any](list []T, is func(T) bool) int {
	n := 0
	for _, v := range list {
		if is(v) {
			n++
		}
	}
	return n
}
