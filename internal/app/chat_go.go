package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/dialog"
	"larva.dev/larva/internal/session"
)

// goOn ends this session for another one. Background tasks belong to it: they
// are not ended in passing.
func (t *chatTalk) goOn(in RunInput) error {
	if n := t.atWork(); n > 0 {
		return diag.New(diag.Unsupported, "%s of this session still at work in the background", counted(n, "task is", "tasks are")).
			WithHint("wait for them, or end them: /tasks stop all")
	}
	t.chat.set(func() { t.chat.next = &in })
	t.chat.nudge()
	return nil
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// doFork cuts before the Nth typed prompt, which is given back to be changed.
func (t *chatTalk) doFork(_ context.Context, args string) (dialog.Reply, error) {
	s, err := session.Load(t.sit.transcript())
	if err != nil {
		return dialog.Reply{}, err
	}
	in, reply := t.chat.again(""), dialog.Reply{Clear: true}
	in.Fork = t.sit.id
	if args != "" {
		n, err := strconv.Atoi(args)
		typed := s.Prompts()
		if err != nil || n < 1 || n > len(typed) {
			return dialog.Reply{}, diag.Usage("/fork %s: this session has %s", args, counted(len(typed), "prompt", "prompts")).
				WithHint("/fork 1 goes back to before the first; /fork copies all")
		}
		in.Fork += "@" + args
		reply.Prompt = typed[n-1].Text
	}
	reply.Text = "A copy of session " + t.sit.id + "."
	return reply, t.goOn(in)
}

func (t *chatTalk) doResume(_ context.Context, args string) (dialog.Reply, error) {
	id, err := t.sit.store.Find(args)
	if err != nil {
		return dialog.Reply{}, err
	}
	if id == t.sit.id {
		return dialog.Reply{Text: "That is this session."}, nil
	}
	if s, err := session.Load(t.sit.store.Path(id)); err != nil {
		return dialog.Reply{}, err
	} else if s.Running {
		return dialog.Reply{}, diag.New(diag.SessionBusy, "session %s is being written by another process", id).With("session_id", id).
			WithHint("end it there first, or take a copy: larva chat --fork %s", id)
	}
	return dialog.Reply{Clear: true, Text: "Session " + id + "."}, t.goOn(t.chat.again(id))
}

// pickSession lists the project's other sessions, the newest first.
func (t *chatTalk) pickSession(context.Context, string) (dialog.Reply, error) {
	list, err := t.sit.store.List()
	if err != nil {
		return dialog.Reply{}, err
	}
	p := &dialog.Pick{Title: "Go on with"}
	for _, s := range list {
		if s.ID == t.sit.id || s.State == "running" || s.Prompts == 0 || len(p.Items) == 50 {
			continue
		}
		p.Items = append(p.Items, dialog.Item{Label: s.Prompt, Line: "/resume " + s.ID,
			Detail: s.Persona.ID + ", " + s.Updated.Local().Format("2006-01-02 15:04") + ", " + counted(s.Prompts, "prompt", "prompts")})
	}
	if len(p.Items) == 0 {
		return dialog.Reply{Text: "This project has no other session."}, nil
	}
	return dialog.Reply{Pick: p}, nil
}

// doExport writes a new file; it never takes the place of one.
func (t *chatTalk) doExport(_ context.Context, args string) (dialog.Reply, error) {
	path := args
	if path == "" {
		path = "larva-" + t.sit.id + ".md"
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok && t.app.home != "" {
		path = filepath.Join(t.app.home, rest)
	}
	path = t.app.abs(path)
	s, err := session.Load(t.sit.transcript())
	if err != nil {
		return dialog.Reply{}, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return dialog.Reply{}, diag.Usage("%s is there already", path).WithHint("/export with another name")
	}
	if err != nil {
		return dialog.Reply{}, diag.Usage("%s cannot be written: %v", path, err)
	}
	err = s.Transcript().Markdown(f, 0)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(path)
		return dialog.Reply{}, diag.New(diag.Internal, "%s could not be written: %v", path, err)
	}
	return dialog.Reply{Text: "Written: `" + path + "`"}, nil
}

// pickPersona lists who could be talked to.
func (t *chatTalk) pickPersona(ctx context.Context, _ string) (dialog.Reply, error) {
	t.chat.mu.Lock()
	s := t.s
	t.chat.mu.Unlock()
	list, err := t.app.spawnAll(ctx, s)
	if err != nil {
		return dialog.Reply{}, err
	}
	p := &dialog.Pick{Title: "Talk to"}
	for _, a := range list {
		label := a.ID
		if a.ID == s.ref.ID {
			label += " (now)"
		}
		p.Items = append(p.Items, dialog.Item{Label: label, Detail: firstLine(a.Description), Line: "/persona " + a.ID})
	}
	return dialog.Reply{Pick: p}, nil
}

// pickModel lists roles and labels of the profile.
func (t *chatTalk) pickModel(context.Context, string) (dialog.Reply, error) {
	t.chat.mu.Lock()
	s := t.s
	t.chat.mu.Unlock()
	p := &dialog.Pick{Title: "Model", Items: []dialog.Item{{Label: "default", Detail: "the persona's own: " + s.persona.Model, Line: "/model default"}}}
	for _, name := range append(sortedKeys(s.eff.Profile.Roles), sortedKeys(s.eff.Profile.Models)...) {
		if name == "*" {
			continue
		}
		r, err := s.eff.RouteNamed(name)
		if err != nil {
			continue
		}
		p.Items = append(p.Items, dialog.Item{Label: name, Detail: r.Name(), Line: "/model " + name})
	}
	return dialog.Reply{Pick: p}, nil
}
