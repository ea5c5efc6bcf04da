package agent

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"larva.dev/larva/internal/tool"
)

const (
	// maxOutput is how many bytes of a result the model reads.
	maxOutput = 30_000
	// maxImages and maxImage are what services take of pictures in one result.
	maxImages = 4
	maxImage  = 5 << 20
	// rawTool reads back what KeepRaw kept.
	rawTool = "raw_output"
)

// fit makes a result what the model reads: at most so many bytes, text that is
// UTF-8, pictures that services take. What is left out is kept for raw_output
// and the text says so.
func (l *Loop) fit(j *job, r *tool.Result) {
	r.Images = fitImages(r)
	room := l.room(j)
	raw := r.Raw
	if raw == nil && (len(r.Output) > room || !utf8.ValidString(r.Output)) {
		raw = []byte(r.Output)
	}
	r.Raw = nil
	kept := ""
	if raw != nil && l.keepRaw(j.Call.ID, raw) {
		kept = rawMark(j.Call.ID)
	}
	cut := len(r.Output) > room
	r.Output = capOutput(r.Output, room, kept)
	if kept != "" && !cut && len(raw) > len(r.Output) {
		r.Output = joinLines(r.Output, fmt.Sprintf("[the whole output has %d bytes: %s]", len(raw), kept))
	}
}

// keepRaw keeps a call's whole output where the model has a tool to read it.
func (l *Loop) keepRaw(id string, data []byte) bool {
	if l.KeepRaw == nil || id == "" {
		return false
	}
	if _, ok := l.Tools.Get(rawTool); !ok {
		return false
	}
	err := l.KeepRaw(id, data)
	if err == nil {
		return true
	}
	l.root().out.Lock()
	told := l.rawLost
	l.rawLost = true
	l.root().out.Unlock()
	if !told { // what fails once goes on failing
		l.Notice("raw_not_kept", fmt.Sprintf("whole outputs are not kept from here on: %v", err))
	}
	return false
}

// room is how many bytes of the call's result the model reads.
func (l *Loop) room(j *job) int {
	if j.tool != nil {
		if n := j.tool.Spec().MaxOutput; n > 0 {
			return n
		}
	}
	return maxOutput
}

func fitImages(r *tool.Result) []tool.Image {
	fits := slices.DeleteFunc(slices.Clone(r.Images), func(i tool.Image) bool { return len(i.Data) == 0 || len(i.Data) > maxImage })
	fits = fits[:min(len(fits), maxImages)]
	if n := len(r.Images) - len(fits); n > 0 {
		r.Output = joinLines(r.Output, fmt.Sprintf("[%d images left out: at most %d of %d MiB each]", n, maxImages, maxImage>>20))
	}
	return fits
}

// brief bounds what a plug-in says to the model.
func brief(s string) string { return capOutput(s, maxOutput, "") }

// capOutput keeps the first two thirds and the last third of what is longer
// than limit, whole characters only, and says how much is left out and, where
// it is known, what gives it. Bytes that are no UTF-8 become U+FFFD: the wire
// carries text.
func capOutput(s string, limit int, kept string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	head, tail := limit*2/3, len(s)-limit/3
	for !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	if kept != "" {
		kept = "; " + kept + " gives them"
	}
	return s[:head] + fmt.Sprintf("\n[… %d of %d bytes left out%s …]\n", tail-head, len(s), kept) + s[tail:]
}

func joinLines(a, b string) string {
	if a == "" {
		return b
	}
	return strings.TrimRight(a, "\n") + "\n" + b
}
