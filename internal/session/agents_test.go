package session

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"larva.dev/larva/internal/event"
)

func TestSubagentsRecordsLieBesideTheSession(t *testing.T) {
	t.Parallel()
	s := At(t.TempDir(), "/p")
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	id := event.NewSessionID(now)
	log, err := s.Create(Meta{SessionID: id}, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"task-1", "task-1-2"} {
		child, err := log.Agent("task-1", Meta{SessionID: id}, now)
		if err != nil {
			t.Fatal(err)
		}
		child.Event(event.Event{Seq: 1, Time: now, Body: event.User{Text: "look"}})
		if err := child.KeepRaw("c1", []byte("all of it")); err != nil {
			t.Fatal(err)
		}
		if raw, err := child.Raw("c1"); err != nil || string(raw) != "all of it" {
			t.Errorf("got %q, %v", raw, err)
		}
		if err := child.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(s.Dir(), id+"-agents", want+".jsonl")
		ses, err := Load(path)
		if err != nil || len(ses.Prompts()) != 1 {
			t.Errorf("%s: got %v", path, err)
		}
	}
	log.Event(event.Event{Seq: 1, Time: now, Agent: "explore: x", Body: event.Fault{Code: "X", Message: "a subagent's"}})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	list, err := s.List()
	if err != nil || len(list) != 1 || list[0].State == "failed" {
		t.Errorf("got %+v, %v: subagents' records are no sessions and their failures not the session's", list, err)
	}
	if err := s.Delete(id); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(s.Dir()); len(left) != 0 {
		t.Errorf("got %v left", left)
	}
}
