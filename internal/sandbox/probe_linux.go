package sandbox

import "context"

func best(ctx context.Context, m Machine) Found {
	f, no := probeBubblewrap(ctx, m)
	if no == nil {
		return f
	}
	notice := "sandbox: no bubblewrap (" + no.text + "); " + no.hint
	if f, no := probeLandlock(ctx, m); no == nil {
		f.notice = notice + ". Landlock confines shell commands instead, and they are still asked about"
		return f
	}
	return Found{kind: None, notice: notice + ". Shell commands run without a sandbox and are asked about one by one"}
}

func probeBubblewrap(ctx context.Context, m Machine) (Found, *reason) { return bubblewrapWorks(ctx, m) }

func probeSeatbelt(context.Context, Machine) (Found, *reason) {
	return Found{}, &reason{"it is a part of macOS", "take kind auto"}
}
