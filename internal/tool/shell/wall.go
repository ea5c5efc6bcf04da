package shell

import "larva.dev/larva/internal/sandbox"

// walled gives the command line and environment of a command: inside the
// shell's wall, or outside of it where the call asked for that and permission
// let it.
func (s *Shell) walled(argv []string, unwalled bool) (walledArgv, env []string) {
	if unwalled || s.wall.Kind() == sandbox.None {
		return argv, s.env
	}
	return s.wall.Wrap(argv, s.env, sandbox.WrapOptions{Dir: s.rs.Cwd})
}
