package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
)

var start = time.Date(2026, 7, 1, 14, 3, 4, 0, time.UTC)

const id1, id2 = "20260701-140304-aaaaaa", "20260701-140304-bbbbbb"

func meta(id string) Meta {
	return Meta{SessionID: id, Cwd: "/w", Project: "/w", Persona: event.PersonaRef{ID: "p", Variant: "default", Digest: "sha256:1"},
		Named: "p", Spec: json.RawMessage(`{"id":"p"}`), Mode: "default", Model: "script/x"}
}

func store(t *testing.T) *Store {
	t.Helper()
	return At(t.TempDir(), "/w")
}

func create(t *testing.T, s *Store, id string, bodies ...event.Body) *Log {
	t.Helper()
	l, err := s.Create(meta(id), start)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for i, b := range bodies {
		l.Event(event.Event{Seq: i + 1, Time: start, Body: b})
	}
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	return l
}

func code(err error) diag.Code {
	if err == nil {
		return ""
	}
	return diag.As(err).Code
}

// conversation is one turn with two calls, then an answer.
func conversation() []event.Body {
	return []event.Body{
		event.Init{SessionID: id1},
		event.User{Text: "do it"},
		event.TextDelta{Text: "str"}, event.ThinkingDelta{Text: "hm"},
		event.Assistant{Text: "looking", Calls: []event.Call{{ID: "c1", Tool: "read", Input: json.RawMessage(`{"path":"a"}`)}, {ID: "c2", Tool: "bash", Broken: `{"com`}}},
		event.ToolStart{ID: "c1", Tool: "read", Input: json.RawMessage(`{"path":"a"}`)},
		event.ToolEnd{ID: "c1", Tool: "read", Output: "A <b>", Decision: &event.Decision{Tool: "read", Verdict: event.Allow}},
		event.ToolEnd{ID: "c2", Tool: "bash", Output: "INVALID_JSON", IsError: true, Fault: "invalid_json"},
		event.Spent{Model: "script/x"},
		event.Assistant{Text: "done"},
		event.Result{StopReason: event.StopEndTurn, SessionID: id1},
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	s := store(t)
	l := create(t, s, id1, conversation()...)
	got, err := Load(l.Path()) // while it is open for writing
	if err != nil {
		t.Fatal(err)
	}
	if !got.Running || got.Torn {
		t.Errorf("got running %v, torn %v; want true, false", got.Running, got.Torn)
	}
	want := []model.Message{
		{Role: model.User, Blocks: []model.Block{{Text: "do it"}}},
		{Role: model.Assistant, Blocks: []model.Block{{Text: "looking"},
			{Call: &model.Call{ID: "c1", Tool: "read", Input: json.RawMessage(`{"path":"a"}`)}},
			{Call: &model.Call{ID: "c2", Tool: "bash", Broken: `{"com`}}}},
		{Role: model.User, Blocks: []model.Block{{Result: &model.Result{ID: "c1", Tool: "read", Output: "A <b>"}},
			{Result: &model.Result{ID: "c2", Tool: "bash", Output: "INVALID_JSON", IsError: true}}}},
		{Role: model.Assistant, Blocks: []model.Block{{Text: "done"}}},
	}
	if d := cmp.Diff(got.History(), want); d != "" {
		t.Errorf("got-, want+\n%s", d)
	}
	if d := cmp.Diff(got.Meta, meta(id1), cmp.Comparer(func(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") })); d != "" {
		t.Errorf("meta: got-, want+\n%s", d)
	}
}

func TestHistoryRebuilds(t *testing.T) {
	t.Parallel()
	call := func(id string) event.Call {
		return event.Call{ID: id, Tool: "read", Input: json.RawMessage(`{}`), Extra: json.RawMessage(`{"sig":1}`)}
	}
	answered := func(id, out string) model.Block {
		return model.Block{Result: &model.Result{ID: id, Tool: "read", Output: out}}
	}
	asked := func(id string) model.Block {
		return model.Block{Call: &model.Call{ID: id, Tool: "read", Input: json.RawMessage(`{}`), Extra: json.RawMessage(`{"sig":1}`)}}
	}
	lost := model.Block{Result: &model.Result{ID: "c2", Tool: "read", Output: model.Unanswered, IsError: true}}
	for _, tt := range []struct {
		name   string
		bodies []event.Body
		want   []model.Message
	}{
		{"killed between two results", []event.Body{event.User{Text: "x"}, event.Assistant{Calls: []event.Call{call("c1"), call("c2")}},
			event.ToolEnd{ID: "c1", Tool: "read", Output: "1"}, event.ToolStart{ID: "c2", Tool: "read"}},
			[]model.Message{{Role: model.User, Blocks: []model.Block{{Text: "x"}}}, {Role: model.Assistant, Blocks: []model.Block{asked("c1"), asked("c2")}},
				{Role: model.User, Blocks: []model.Block{answered("c1", "1"), lost}}}},
		{"provider's blocks in their place", []event.Body{event.User{Text: "x"}, event.Assistant{Text: "ab", Calls: []event.Call{call("c1")},
			Parts: []event.Part{{Provider: "anthropic", Model: "m", Raw: json.RawMessage(`{"type":"thinking"}`)}, {Text: "a"}, {Call: "c1"}, {Text: "b"}}},
			event.ToolEnd{ID: "c1", Tool: "read", Output: "1"}},
			[]model.Message{{Role: model.User, Blocks: []model.Block{{Text: "x"}}},
				{Role: model.Assistant, Blocks: []model.Block{{Raw: &model.Raw{Provider: "anthropic", Model: "m", JSON: json.RawMessage(`{"type":"thinking"}`)}}, {Text: "a"}, asked("c1"), {Text: "b"}}},
				{Role: model.User, Blocks: []model.Block{answered("c1", "1")}}}},
		{"a call that no part names", []event.Body{event.User{Text: "x"}, event.Assistant{Calls: []event.Call{call("c1")}, Parts: []event.Part{{Text: "a"}}},
			event.ToolEnd{ID: "c1", Tool: "read", Output: "1"}},
			[]model.Message{{Role: model.User, Blocks: []model.Block{{Text: "x"}}}, {Role: model.Assistant, Blocks: []model.Block{{Text: "a"}, asked("c1")}},
				{Role: model.User, Blocks: []model.Block{answered("c1", "1")}}}},
		{"a summary takes the place", []event.Body{event.User{Text: "x"}, event.Assistant{Text: "y"}, event.Compacted{Before: 9, After: 1, Summary: "SUM"}, event.Assistant{Text: "z"}},
			[]model.Message{{Role: model.User, Blocks: []model.Block{{Text: "SUM"}}}, {Role: model.Assistant, Blocks: []model.Block{{Text: "z"}}}}},
		{"the user entry of a summary", []event.Body{event.User{Text: "x"}, event.Compacted{Summary: "SUM"}, event.User{Text: "Here: SUM. Go on.", Generated: true}},
			[]model.Message{{Role: model.User, Blocks: []model.Block{{Text: "Here: SUM. Go on."}}}}},
		{"a prompt behind an undo", []event.Body{event.User{Text: "x"}, event.Assistant{Text: "y"}, Undone{Note: "put back"}, event.User{Text: "z"}},
			[]model.Message{{Role: model.User, Blocks: []model.Block{{Text: "x"}}}, {Role: model.Assistant, Blocks: []model.Block{{Text: "y"}}},
				{Role: model.User, Blocks: []model.Block{{Text: "<system-note>\nput back\n</system-note>"}, {Text: "z"}}}}},
		{"old results that gave way", []event.Body{event.User{Text: "x"}, event.Assistant{Calls: []event.Call{call("c1"), call("c2")}},
			event.ToolEnd{ID: "c1", Tool: "read", Output: "1", Images: []event.Image{{MediaType: "image/png", Bytes: 1}}}, event.ToolEnd{ID: "c2", Tool: "read", Output: "2"},
			event.Aged{Results: []event.AgedResult{{ID: "c1", Output: "[left out]"}, {ID: "c9", Output: "[nothing has this id]"}}}},
			[]model.Message{{Role: model.User, Blocks: []model.Block{{Text: "x"}}}, {Role: model.Assistant, Blocks: []model.Block{asked("c1"), asked("c2")}},
				{Role: model.User, Blocks: []model.Block{answered("c1", "[left out]"), answered("c2", "2")}}}},
		{"a call within a call is no part", []event.Body{event.User{Text: "x"}, event.ToolEnd{ID: "c1.1", Tool: "read", Output: "1"}},
			[]model.Message{{Role: model.User, Blocks: []model.Block{{Text: "x"}}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := create(t, store(t), id1, tt.bodies...)
			s, err := Load(l.Path())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(s.History(), tt.want); d != "" {
				t.Errorf("got-, want+\n%s", d)
			}
		})
	}
}

// TestEveryCut cuts the file at each byte: it loads, opens for writing, takes
// an entry more and loads again with what was whole before.
func TestEveryCut(t *testing.T) {
	t.Parallel()
	l := create(t, store(t), id1, conversation()...)
	l.Close()
	whole, err := os.ReadFile(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	first := strings.IndexByte(string(whole), '\n') // the meta must be whole
	s := store(t)
	if err := os.MkdirAll(s.dir, dirMode); err != nil {
		t.Fatal(err)
	}
	for n := first; n <= len(whole); n++ {
		if err := os.WriteFile(s.Path(id1), whole[:n], fileMode); err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(string(whole[:n]), "\n")
		ended := n == len(whole) || whole[n] == '\n' // all but the newline is there
		if ended && whole[n-1] != '\n' {
			lines++
		}
		before, err := Load(s.Path(id1))
		if err != nil || len(before.Entries) != lines-1 {
			t.Fatalf("cut at %d: got %v, %v; want %d entries", n, before, err, lines-1)
		}
		l, ses, err := s.Open(id1, start)
		if err != nil || len(ses.Entries) != lines-1 {
			t.Fatalf("cut at %d: open: got %v, %v; want %d entries", n, ses, err, lines-1)
		}
		l.Event(event.Event{Time: start, Body: event.Notice{Text: "again"}})
		l.Close()
		after, err := Load(s.Path(id1))
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		last := after.Entries[len(after.Entries)-1].Event.Body
		if d := cmp.Diff(last, event.Body(event.Notice{Text: "again"})); d != "" {
			t.Fatalf("cut at %d: got %v last", n, last)
		}
		recovered := false
		for _, e := range after.Entries {
			recovered = recovered || isRecovery(e)
		}
		if torn := whole[n-1] != '\n' && !ended; recovered != torn {
			t.Fatalf("cut at %d: got recovery %v, want %v", n, recovered, torn)
		}
	}
}

// TestTornRecovery: the crash that comes while a crash is mended.
func TestTornRecovery(t *testing.T) {
	t.Parallel()
	s := store(t)
	l := create(t, s, id1, event.User{Text: "x"})
	l.Close()
	data, _ := os.ReadFile(l.Path())
	data = append(data, `{"v":1,"entry":3,"parent":2,"ty`...)
	os.WriteFile(l.Path(), data, fileMode)
	l, _, err := s.Open(id1, start)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	mended, _ := os.ReadFile(l.Path())
	for n := len(data); n <= len(mended); n++ {
		os.WriteFile(l.Path(), mended[:n], fileMode)
		if n == len(data)+1 {
			continue // torn line ended, no recovery: told below
		}
		l, _, err := s.Open(id1, start)
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", n, len(mended), err)
		}
		l.Close()
		if s, err := Load(l.Path()); err != nil || len(s.Entries) != 2 {
			t.Fatalf("cut at %d of %d: got %v, %v; want user and recovery", n, len(mended), s, err)
		}
	}
}

func TestCorrupt(t *testing.T) {
	t.Parallel()
	lines := func() []string {
		l := create(t, store(t), id1, event.User{Text: "x"}, event.Assistant{Text: "y"})
		l.Close()
		data, err := os.ReadFile(l.Path())
		if err != nil {
			t.Fatal(err)
		}
		return strings.SplitAfter(string(data), "\n")[:3]
	}()
	recovery := `{"v":1,"entry":9,"parent":1,"seq":0,"time":"2026-07-01T14:03:04Z","type":"recovery","bytes":3}` + "\n"
	for _, tt := range []struct {
		name, text string
		line       int
		says       string
	}{
		{"a broken line in the middle", lines[0] + "{nonsense\n" + lines[1], 2, "no entry"},
		{"a broken last line with its newline", lines[0] + lines[1] + "{nonsense\n", 3, "no entry"},
		{"an empty line", lines[0] + "\n" + lines[1], 2, "no entry"},
		{"a recovery after nothing torn", lines[0] + recovery, 2, "follows no torn line"},
		{"two torn lines", lines[0] + "{a\n{b\n" + recovery, 2, "no entry"},
		{"no meta", lines[1] + lines[2], 1, "meta"},
		{"a second meta", lines[0] + strings.Replace(lines[0], `"entry":1,"parent":0`, `"entry":2,"parent":1`, 1), 2, "meta"},
		{"an entry twice", lines[0] + lines[1] + lines[1], 3, "does not follow"},
		{"a parent that is not there", lines[0] + strings.Replace(lines[1], `"parent":1`, `"parent":7`, 1), 2, "parent 7"},
		{"another version", lines[0] + strings.Replace(lines[1], `"v":1`, `"v":9`, 1) + lines[2], 2, "version 9"},
		{"another session", strings.ReplaceAll(lines[0], id1, id2), 1, "says that it is"},
		{"nothing", "", 1, "before it began"},
		{"torn before it began", lines[0][:40], 1, "before it began"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := store(t)
			os.MkdirAll(s.dir, dirMode)
			os.WriteFile(s.Path(id1), []byte(tt.text), fileMode)
			_, err := Load(s.Path(id1))
			if code(err) != diag.SessionCorrupt || !strings.Contains(err.Error(), fmt.Sprintf(".jsonl:%d: ", tt.line)) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want SESSION_CORRUPT of line %d saying %q", err, tt.line, tt.says)
			}
			if _, _, err := s.Open(id1, start); code(err) != diag.SessionCorrupt {
				t.Errorf("open: got %v, want SESSION_CORRUPT", err)
			}
			if after, _ := os.ReadFile(s.Path(id1)); string(after) != tt.text {
				t.Errorf("a corrupt file was changed: got %q, want %q", after, tt.text)
			}
		})
	}
}

func TestBranches(t *testing.T) {
	t.Parallel()
	l := create(t, store(t), id1, event.User{Text: "x"}, event.Assistant{Text: "left"})
	l.Close()
	data, _ := os.ReadFile(l.Path())
	data = append(data, `{"v":1,"entry":4,"parent":2,"seq":1,"time":"2026-07-01T14:03:04Z","type":"assistant","text":"right","calls":[]}`+"\n"...)
	os.WriteFile(l.Path(), data, fileMode)
	s, err := Load(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	if h := s.History(); len(h) != 2 || h[1].Blocks[0].Text != "right" {
		t.Errorf("got %v, want the branch that the last entry ends", h)
	}
}

func TestOneWriter(t *testing.T) {
	t.Parallel()
	s := store(t)
	l := create(t, s, id1, event.User{Text: "x"})
	if _, _, err := s.Open(id1, start); code(err) != diag.SessionBusy {
		t.Errorf("second writer: got %v, want SESSION_BUSY", err)
	}
	if err := s.Delete(id1); code(err) != diag.SessionBusy {
		t.Errorf("delete: got %v, want SESSION_BUSY", err)
	}
	l.Close()
	again, _, err := s.Open(id1, start)
	if err != nil {
		t.Fatalf("after the first has closed: %v", err)
	}
	again.Close()
	if err := s.Delete(id1); err != nil {
		t.Errorf("delete: %v", err)
	}
	if left, _ := os.ReadDir(s.dir); len(left) != 0 {
		t.Errorf("got %v left, want nothing", left)
	}
	if _, _, err := s.Open(id1, start); code(err) != diag.SessionNotFound {
		t.Errorf("got %v, want SESSION_NOT_FOUND", err)
	}
}

func TestOwnerOnly(t *testing.T) {
	t.Parallel()
	s := store(t)
	l := create(t, s, id1, event.User{Text: "x"})
	if err := l.KeepRaw("../../c1", []byte("whole")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(s.data, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == s.data {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: got mode %v, want nothing for others", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.Raw("../../c1"); err != nil || string(got) != "whole" {
		t.Errorf("got %q, %v, want whole", got, err)
	}
	if _, err := l.Raw("c9"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want not there", err)
	}
}

// fullFile takes so many bytes, the last write in part, as a full disk does.
type fullFile struct {
	file
	room int
}

func (f *fullFile) Write(b []byte) (int, error) {
	if len(b) > f.room {
		n, _ := f.file.Write(b[:f.room])
		f.room = 0
		return n, errors.New("no space left on device")
	}
	f.room -= len(b)
	return f.file.Write(b)
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	for room := range 400 {
		s := store(t)
		l := create(t, s, id1, event.User{Text: "x"})
		l.f = &fullFile{file: l.f, room: room}
		var told []error
		l.OnFail(func(err error) { told = append(told, err) })
		for i := range 10 {
			l.Event(event.Event{Seq: i, Time: start, Body: event.Notice{Text: "n"}})
		}
		if room < 300 && (len(told) != 1 || code(told[0]) != diag.SessionWrite || l.Err() == nil) {
			t.Fatalf("room %d: got %v, want SESSION_WRITE_FAILED once", room, told)
		}
		l.Close()
		if ses, err := Load(l.Path()); err != nil || ses.Torn {
			t.Fatalf("room %d: got %+v, %v, want a session without a torn line", room, ses, err)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	s := store(t)
	create(t, s, id1)
	create(t, s, id2)
	for _, tt := range []struct {
		id, want string
		code     diag.Code
	}{
		{id1, id1, ""}, {"aaaaaa", id1, ""}, {"bbb", id2, ""}, {"20260701-140304-b", id2, ""},
		{"2026", "", diag.SessionNotFound}, {"", "", diag.SessionNotFound}, {"x", "", diag.SessionNotFound}, {"../" + id1, "", diag.SessionNotFound},
	} {
		got, err := s.Find(tt.id)
		if got != tt.want || code(err) != tt.code {
			t.Errorf("%q: got %q, %v; want %q, %s", tt.id, got, err, tt.want, tt.code)
		}
	}
}

func TestFork(t *testing.T) {
	t.Parallel()
	s := store(t)
	l := create(t, s, id1, append(conversation(), event.User{Text: "feedback", Generated: true}, event.User{Text: "second"}, event.Assistant{Text: "two"})...)
	l.KeepRaw("c1", []byte("whole"))
	from, err := Load(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	if p := from.Prompts(); len(p) != 2 || p[0].Text != "do it" || p[1].Text != "second" {
		t.Fatalf("prompts: got %v, want the two typed ones", p)
	}
	for _, tt := range []struct {
		before int
		last   string
		n      int
	}{{0, "two", 7}, {2, "feedback", 4}, {1, "", 0}} {
		id := fmt.Sprintf("20260701-140304-c%05d", tt.before)
		l, ses, err := s.Fork(from, meta(id), tt.before, start)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Load(l.Path())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(back.History(), ses.History()); d != "" {
			t.Errorf("before %d: read-, made+\n%s", tt.before, d)
		}
		h := back.History()
		if tt.n == 0 {
			if len(h) != 0 {
				t.Errorf("before %d: got %v, want nothing", tt.before, h)
			}
			continue
		}
		blocks := h[len(h)-1].Blocks
		if got := blocks[len(blocks)-1].Text; got != tt.last {
			t.Errorf("before %d: got %q last, want %q", tt.before, got, tt.last)
		}
		if got, err := l.Raw("c1"); err != nil || string(got) != "whole" {
			t.Errorf("before %d: raw: got %q, %v", tt.before, got, err)
		}
		if sum := back.Summary(); sum.Turns != 0 || sum.CostUSD != nil || sum.ForkedFrom != id1 {
			t.Errorf("before %d: got %+v, want nothing spent, forked from %s", tt.before, sum, id1)
		}
		l.Close()
	}
	if _, _, err := s.Fork(from, meta(id2), 3, start); code(err) != diag.InvalidInput {
		t.Errorf("before 3: got %v, want bad usage", err)
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s := store(t)
	create(t, s, id1).Close()
	young := create(t, s, id2)
	young.Close()
	live := create(t, s, "20260701-140304-cccccc")
	for _, l := range []string{s.Path(id1), live.Path()} {
		os.Chtimes(l, start, start)
	}
	now := start.Add(KeepSessions + time.Hour)
	os.Chtimes(young.Path(), now, now)
	for _, id := range []string{id2, live.ID()} {
		os.MkdirAll(s.checks(id), dirMode)
		os.Chtimes(s.checks(id), start, start)
	}
	s.Sweep(now)
	ids, err := s.IDs()
	if d := cmp.Diff(ids, []string{id2, live.ID()}); d != "" || err != nil {
		t.Errorf("got-, want+\n%s%v", d, err)
	}
	if _, err := os.Stat(s.checks(id2)); err == nil {
		t.Error("old checkpoints of a young session are kept, want them gone")
	}
	if _, err := os.Stat(s.checks(live.ID())); err != nil {
		t.Errorf("checkpoints of a session that is being written: %v", err)
	}
	create(t, s, id1).Close()
	os.Chtimes(s.Path(id1), start, start)
	s.Sweep(now.Add(time.Hour))
	if _, err := os.Stat(s.Path(id1)); err != nil {
		t.Error("it was swept twice in a day")
	}
}

func TestListStates(t *testing.T) {
	t.Parallel()
	cost := 0.25
	s := store(t)
	ids := map[string]string{"done": "20260701-140304-000001", "stopped": "20260701-140304-000002", "failed": "20260701-140304-000003", "crashed": "20260701-140304-000004", "running": "20260701-140304-000005"}
	create(t, s, ids["done"], event.Init{}, event.User{Text: "\n<hook-context>\nfirst line\nsecond"}, event.Spent{CostUSD: &cost}, event.Result{},
		event.Init{}, event.User{Text: "b"}, event.Spent{CostUSD: &cost}, event.Spent{CostUSD: &cost}, event.Result{}).Close()
	create(t, s, ids["stopped"], event.Init{}, event.Result{ExitCode: 5}).Close()
	create(t, s, ids["failed"], event.Init{}, event.Fault{Code: "X"}).Close()
	create(t, s, ids["crashed"], event.Init{}, event.User{Text: "x"}).Close()
	create(t, s, ids["running"], event.Init{})
	list, err := s.List()
	if err != nil || len(list) != 5 {
		t.Fatalf("got %v, %v", list, err)
	}
	for _, l := range list {
		if ids[l.State] != l.ID {
			t.Errorf("%s: got state %s", l.ID, l.State)
		}
		if l.State == "done" && (l.Prompt != "first line" || l.Prompts != 2 || l.Turns != 3 || *l.CostUSD != 0.5) {
			t.Errorf("got %+v, cost %v; want first line, 2 prompts, 3 turns, 0.5", l, *l.CostUSD)
		}
	}
	if latest, err := s.Latest(""); err != nil || latest == "" {
		t.Errorf("latest: got %q, %v", latest, err)
	}
	if none, err := s.Latest("nobody"); err != nil || none != "" {
		t.Errorf("latest of nobody: got %q, %v, want none", none, err)
	}
}

// TestMemory loads a session of 2,000 messages and makes its conversation.
func TestMemory(t *testing.T) {
	s := store(t)
	l := create(t, s, id1)
	text := strings.Repeat("word ", 400)
	for i := range 1000 {
		id := fmt.Sprint("c", i)
		l.Event(event.Event{Time: start, Body: event.Assistant{Text: text, Calls: []event.Call{{ID: id, Tool: "read", Input: json.RawMessage(`{"path":"a"}`)}}}})
		l.Event(event.Event{Time: start, Body: event.ToolEnd{ID: id, Tool: "read", Output: text, Decision: &event.Decision{Tool: "read", Verdict: event.Allow}}})
	}
	l.Close()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ses, err := Load(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	h := ses.History()
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := int(after.HeapAlloc-before.HeapAlloc) >> 10
	if len(h) < 2000 {
		t.Errorf("got %d messages, want 2,000", len(h))
	}
	if held > 20<<10 {
		t.Errorf("got %d KiB held, want at most 20 MiB of the 80 that a run may have", held)
	}
	info, _ := os.Stat(l.Path())
	t.Logf("%d messages, %d KiB on disk, %d KiB held", len(h), info.Size()>>10, held)
	runtime.KeepAlive(ses)
}

func BenchmarkEvent(b *testing.B) {
	s := At(b.TempDir(), "/w")
	l, err := s.Create(meta(id1), start)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	e := event.Event{Time: start, Body: event.ToolEnd{ID: "c", Tool: "read", Output: strings.Repeat("word ", 400), Decision: &event.Decision{Tool: "read", Verdict: event.Allow}}}
	for b.Loop() {
		l.Event(e)
	}
}
