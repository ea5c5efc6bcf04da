package load

import "context"

func (o Options) run(ctx context.Context, units []*unit) ([][]outcome, error) {
	outs := make([][]outcome, len(units))
	for i, u := range units {
		if len(u.faults) == 0 {
			outs[i] = evaluate(u)
		}
	}
	return outs, ctx.Err()
}
