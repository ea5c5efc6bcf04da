package sandbox

// The kinds of wall, strongest first.
const (
	Bubblewrap = "bubblewrap"
	Seatbelt   = "seatbelt"
	Landlock   = "landlock"
	None       = "none"
)

// Wall encloses the commands of one executor. nil is no wall.
type Wall struct {
	kind string
}

// WrapOptions are those of one command.
type WrapOptions struct {
	Dir string // the command's working directory, absolute
}

// Kind names the wall: bubblewrap, seatbelt, landlock or none.
func (w *Wall) Kind() string {
	if w == nil {
		return None
	}
	return w.kind
}

// Wrap gives the command line and the environment that run argv inside the
// wall.
func (w *Wall) Wrap(argv, env []string, _ WrapOptions) (argv2, env2 []string) {
	return argv, env
}

// Close ends what the wall keeps running and removes what it made.
func (w *Wall) Close() error { return nil }
