package shell

import (
	"errors"
	"fmt"
	"strings"

	"larva.dev/larva/internal/sandbox"
	"larva.dev/larva/internal/tool"
)

// walled gives the command line and environment of a command: inside the
// shell's wall, or outside of it where the call asked for that and permission
// let it. done is called when the command has ended.
func (s *Shell) walled(argv []string, unwalled bool) (walledArgv, env []string, done func() []string, err error) {
	if unwalled || s.wall.Kind() == sandbox.None {
		return argv, s.env, func() []string { return nil }, nil
	}
	argv, env, done, err = s.wall.Wrap(argv, s.env, sandbox.WrapOptions{Dir: s.rs.Cwd})
	if err != nil {
		// Never without the wall that the call was judged by.
		return nil, nil, nil, errors.New("the command was not run: " + err.Error())
	}
	return argv, env, done, nil
}

// denials are what programs say where the wall stops them. The first two are
// as good as sure; the others are said elsewhere, too.
var denials = [...]string{"Read-only file system", "Network is unreachable", "Permission denied", "Operation not permitted",
	"Could not resolve host", "Temporary failure in name resolution", "Name or service not known", "EROFS", "EACCES", "ENETUNREACH", "EAI_AGAIN"}

// hint tells the model that a failure may be the wall's doing, and which hosts
// the wall's proxy has refused.
func (s *Shell) hint(r tool.Result, unwalled bool, changed []string) tool.Result {
	if unwalled || s.wall.Kind() == sandbox.None {
		return r
	}
	add := func(format string, args ...any) {
		if !strings.HasSuffix(r.Output, "\n") {
			r.Output += "\n"
		}
		r.Output += "(" + fmt.Sprintf(format, args...) + ")\n"
	}
	if len(changed) > 0 {
		r.IsError = true
		add("the sandbox has put back what must not be changed: %s", strings.Join(changed, ", "))
	}
	if hosts := s.wall.Refused(); len(hosts) > 0 {
		add("the sandbox refused these hosts, which sandbox.allowed_domains does not name: %s", strings.Join(hosts, ", "))
		return r
	}
	if !r.IsError || len(changed) > 0 {
		return r
	}
	for _, d := range denials {
		if strings.Contains(r.Output, d) {
			add("this may be the sandbox: %s. If the command must run outside, call bash with sandbox: false, which a person is asked about", s.confines())
			return r
		}
	}
	return r
}

// confines says what the wall does, and no more than it does.
func (s *Shell) confines() string {
	const writes = "it lets a command write the project, the added directories and $TMPDIR only"
	if s.wall.Kind() == sandbox.Landlock {
		return writes + ", keeps what lies at secret places of the home directory from it, and lets it open no TCP connection"
	}
	return writes + ", keeps secret and guarded files from it, and has no network but its own loopback"
}
