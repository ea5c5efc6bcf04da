package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
)

// autoTime bounds the judge of mode auto, which has a shorter limit of its own.
const autoTime = time.Minute

type unasked struct{}

// Unasked gives a ctx under which Call asks nobody: what would be a question is
// a denial. It is for calls that a file wants and no person.
func Unasked(ctx context.Context) context.Context { return context.WithValue(ctx, unasked{}, true) }

// ask turns a question into allow or deny: the PermissionAsked points first,
// then mode auto's judge, then the person. It says the permission events.
func (l *Loop) ask(ctx context.Context, j *Judged) {
	if ctx.Value(unasked{}) != nil {
		j.Decision.Verdict, j.Decision.Unanswered = event.Deny, true
		j.Decision.Reason = sentence(j.Decision.Reason) + " Nobody is asked about it: no person and no model wants it."
		return
	}
	q := l.question(j)
	if l.pointsAnswer(ctx, j, q) || l.autoAnswers(ctx, j) {
		return
	}
	q.Decision = j.Decision // with the judge's reason
	root := l.root()
	if root.Ask == nil {
		j.Decision.Verdict, j.Decision.Unanswered = event.Deny, true
		j.Decision.Reason = sentence(j.Decision.Reason) + " Nobody can be asked in this run."
		return
	}
	var a event.Answer
	l.Floor(ctx, func() {
		l.emit(event.Permission{ID: q.ID, Decision: q.Decision})
		root.Alert(ctx, "Permission is needed to use "+q.Decision.Tool+".")
		a = root.Ask(ctx, q)
	})
	if ctx.Err() != nil {
		a = event.Answer{}
	}
	a.Always = a.Always && a.Allow && !q.NoAlways
	if a.Always {
		for _, rule := range q.Rules {
			l.remember(rule)
		}
	}
	j.answer = &a
	personDecided(&j.Decision, a)
}

// question words a decision for a person. "Always" is not offered where no
// rule could answer, nor for the end of plan mode.
func (l *Loop) question(j *Judged) event.Question {
	q := event.Question{ID: j.Call.ID, Agent: l.Agent, Decision: j.Decision, Rules: l.Policy.Suggestions(j.Call, j.Effects)}
	if len(q.Rules) > 0 {
		q.Suggested = q.Rules[0]
	}
	q.NoAlways = q.Suggested == "" || j.Call.Tool == exitPlan || !l.Policy.AllowCould(j.Decision)
	return q
}

// autoAnswers lets a model answer in mode auto, and only where the policy
// leaves the question to one. Its no leaves the question to the person.
func (l *Loop) autoAnswers(ctx context.Context, j *Judged) bool {
	if l.Auto == nil || l.CurrentMode() != permission.Auto || j.says.Verdict == event.Ask || !l.Policy.AutoMay(j.Decision) {
		return false
	}
	judging, cancel := context.WithTimeout(ctx, autoTime)
	defer cancel()
	allow, reason := l.Auto(judging, j.Call, j.Decision, slices.Clone(l.prompts))
	if judging.Err() != nil {
		allow, reason = false, "the judge of mode auto took too long"
	}
	d := &j.Decision
	if !allow {
		if reason != "" {
			d.Reasons = append(slices.Clone(d.Reasons), string(event.StageAuto)+": "+reason)
		}
		return false
	}
	d.Verdict, d.Stage, d.Rule, d.Origin, d.Reason = event.Allow, event.StageAuto, "", "", reason
	d.Reasons = append([]string{string(d.Stage) + ": " + reason}, d.Reasons...)
	return true
}

// Alert tells the Notify points that a person may have to come back: a question
// is waiting, say.
func (l *Loop) Alert(ctx context.Context, message string) {
	root := l.root()
	root.out.Lock()
	notify := root.Points.Notify
	root.out.Unlock()
	for _, f := range notify {
		f(ctx, message)
	}
}

// personDecided puts the answer into the decision; the stage stays that of
// the question.
func personDecided(d *event.Decision, a event.Answer) {
	d.Verdict, d.Reason = event.Deny, "the user said no"
	switch {
	case a.Allow:
		d.Verdict, d.Reason = event.Allow, "the user said yes"
	case a.Feedback != "":
		d.Reason += ": " + a.Feedback
	}
	d.Reasons = append([]string{string(d.Stage) + ": " + d.Reason}, d.Reasons...)
}

// pointsAnswer lets the points speak for the person: any denial counts, an
// allow only where an allow rule could have said it.
func (l *Loop) pointsAnswer(ctx context.Context, j *Judged, q event.Question) bool {
	var yes *Reply
	for _, f := range l.Points.PermissionAsked {
		r := f(ctx, j.Call, q)
		switch {
		case r == nil:
		case !r.Allow:
			l.pointDecided(j, event.Deny, r)
			return true
		case yes == nil:
			yes = r
		}
	}
	if yes == nil || !l.Policy.AllowCould(j.Decision) && j.Decision.Stage != event.StageDefault {
		return false
	}
	l.pointDecided(j, event.Allow, yes)
	return true
}

func (l *Loop) pointDecided(j *Judged, v event.Verdict, r *Reply) {
	d := &j.Decision
	d.Verdict, d.Stage, d.Rule, d.Origin = v, event.StageHook, "", r.Name
	d.Reason = r.Reason
	if d.Reason == "" {
		d.Reason = fmt.Sprintf("the hook %s said %s", r.Name, v)
	}
	d.Reasons = append([]string{string(d.Stage) + ": " + d.Reason}, d.Reasons...)
}

// remember stores an "always" and lets it hold from the next call on. Where
// it cannot be stored it holds for this run.
func (l *Loop) remember(rule string) {
	where := "this run"
	if keep := l.root().Remember; keep != nil {
		w, err := keep(rule)
		if err != nil {
			l.Notice("rule_not_saved", fmt.Sprintf("the rule %s could not be saved and holds for this run only: %v", rule, err))
		} else {
			where = w
			l.Notice("rule_saved", fmt.Sprintf("%s is always allowed here from now on, as %s says", rule, w))
		}
	}
	if err := l.grow(rule, where); err != nil {
		l.Notice("rule_not_used", fmt.Sprintf("the rule %s does not hold yet: %v", rule, err))
	}
}

// refusal is what the model reads of a denied call.
func refusal(d event.Decision) string {
	var b strings.Builder
	b.WriteString("DENIED: " + sentence(d.Reason))
	b.WriteString(" [stage: " + string(d.Stage))
	if d.Rule != "" {
		b.WriteString(", rule: " + d.Rule)
	}
	b.WriteString("] The call was not run. Do not repeat it or look for a way around; go on without it, or say what you could not do.")
	return b.String()
}

// sentence gives s a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsRune(".!?", rune(s[len(s)-1])) {
		return s
	}
	return s + "."
}
