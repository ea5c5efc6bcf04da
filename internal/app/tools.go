package app

import (
	"context"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
	"larva.dev/larva/internal/tool/file"
	"larva.dev/larva/internal/tool/shell"
	"larva.dev/larva/internal/tool/talk"
)

// equip gives a stand its tools.
func (a *App) equip(s *stand) error {
	files := file.New(s.roots, file.Options{Environ: a.environ, Denied: s.policy.ReadDenied})
	s.forget = files.Forget
	s.shell = shell.New(s.roots, a.environ, shell.Options{Secret: s.keyNames(), Denied: s.policy.ReadDenied, Ruled: s.policy.ReadRuled, Wall: s.wall})
	s.line = &talk.Line{}
	s.tools = &tool.Registry{}
	for _, tools := range [][]tool.Tool{files, s.shell.Tools(), talk.New(s.line)} {
		if err := s.tools.Add(s.having(tools)...); err != nil {
			return err
		}
	}
	return s.shelveTools()
}

// connect lets the tools of a run reach its loop and its person.
func (s *stand) connect(l *agent.Loop, in RunInput) {
	if in.AskUser != nil {
		s.line.Ask = func(ctx context.Context, question string, options []string) (string, bool) {
			var answer string
			var ok bool
			l.Floor(ctx, func() {
				l.Alert(ctx, "A question is waiting: "+question)
				answer, ok = in.AskUser(ctx, question, options)
			})
			return answer, ok
		}
	}
	if s.servers != nil && l.Agent == "" {
		s.servers.hear(l, s.line.Ask)
	}
	s.line.Planning = func() bool { return l.CurrentMode() == permission.Plan }
}
