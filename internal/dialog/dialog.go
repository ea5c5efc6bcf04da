// Package dialog holds what the engine of a chat and its screen say to each
// other beside the events of a run.
package dialog

import "context"

// Engine is one chat. Its methods may be called from any goroutine; none but
// Run blocks longer than a command takes.
type Engine interface {
	// Run holds the conversation until ctx ends or /quit was said, and returns
	// once everything that it started has ended.
	Run(ctx context.Context) error
	// Say queues a prompt: it is a turn of its own, once those before it are over.
	Say(text string)
	// Interrupt ends the turn that is on; what runs in the background goes on.
	// False: no turn was on.
	Interrupt() bool
	// Do carries out a line "/command arguments". Its errors are *diag.Error.
	// A line that is no command of the chat's own is queued as a prompt.
	Do(ctx context.Context, line string) (Reply, error)
	// Commands are those of the chat, then the person's own, each in order.
	Commands() []Command
	// Complete gives what may stand in place of the last word of line: "@path"
	// for files, "/name" for commands, arguments of commands.
	Complete(ctx context.Context, line string) []Candidate
	// State is what holds now.
	State() State
	// History are prompts that were typed in this project of late, the newest
	// last.
	History(ctx context.Context) []string
}

// Reply is what a command has to say.
type Reply struct {
	// Text is for the transcript, Markdown; "" says nothing.
	Text string
	// Clear empties the screen: the conversation begins anew.
	Clear bool
	// Prompt is put into the composer, to be changed and sent again.
	Prompt string
	// Quit ends the chat.
	Quit bool
	// Pick is a list to choose from, nil for none.
	Pick *Pick
}

// Pick is a list to choose from.
type Pick struct {
	Title string
	Items []Item
}

// Item is one choice: Line is what is done, a command as it is typed.
type Item struct{ Label, Detail, Line string }

// Command is one that can be typed. Args is how its arguments are written, ""
// for none.
type Command struct{ Name, Args, Help string }

// Candidate is one completion: Text stands in place of the word.
type Candidate struct{ Text, Detail string }

// State is what a status line shows.
type State struct {
	Persona, Variant string
	Model            string // provider/model
	Mode             string
	Session          string
	Busy             bool // a turn is on
	Waiting          int  // prompts that wait for it
	Tokens           int64
	USD              *float64 // nil where a part of the cost is unknown
	Context, Window  int      // tokens
	Tasks            int      // at work in the background
}
