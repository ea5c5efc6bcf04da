package agent

import (
	"hash/fnv"
	"io"
	"strconv"

	"larva.dev/larva/internal/model"
)

// The guard trips when one step stands four times among the last eight: the
// model is asking the same and being told the same. It trips too where the
// steps differ only in what differs by itself (see signature), or where one
// call is repeated beside others, unless something new was changed meanwhile:
// to count the files after each one written is work.
const (
	guardWindow = 8
	guardSame   = 4
)

// guard watches for a model that goes in circles.
type guard struct {
	exact []uint64 // the last steps as they were
	// blurred and calls are the signatures of the steps, and of the single calls
	// of each, since the last change that was new.
	blurred []uint64
	calls   []map[uint64]bool
}

// sees takes one step, every call with its result, and says whether it has
// come too often. changed says which calls changed something. After a trip it
// starts afresh.
func (g *guard) sees(calls []model.Call, results []model.Result, changed []bool) bool {
	exact, whole := fnv.New64a(), fnv.New64a()
	single := map[uint64]bool{}
	progress := false
	for i, c := range calls {
		hash(exact, c.Tool, string(c.Input)+c.Broken, results[i].Output)
		s := signature(c, results[i])
		hash(whole, strconv.FormatUint(s, 16))
		single[s] = true
		progress = progress || i < len(changed) && changed[i] && !g.knows(s)
	}
	if progress {
		g.blurred, g.calls = nil, nil
	}
	g.exact = last(append(g.exact, exact.Sum64()))
	g.blurred = last(append(g.blurred, whole.Sum64()))
	g.calls = last(append(g.calls, single))
	if !often(g.exact) && !often(g.blurred) && !g.repeats(single) {
		return false
	}
	*g = guard{}
	return true
}

// often says that the last step has come too often.
func often(steps []uint64) bool {
	now := steps[len(steps)-1]
	return count(steps, func(s uint64) bool { return s == now }) >= guardSame
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
	hash(h, c.Tool, blur(string(c.Input)+c.Broken, isMoment), blur(r.Output, isVolatile))
	return h.Sum64()
}

// hash writes fields; their lengths keep one from running into the next.
func hash(w io.Writer, fields ...string) {
	for _, f := range fields {
		io.WriteString(w, strconv.Itoa(len(f))+":"+f)
	}
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
