package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Agent begins the record of a subagent beside the session's own: a session
// file in the directory ID-agents, named after the task. A name that is taken,
// by an earlier run of the session, gets a number.
func (l *Log) Agent(name string, m Meta, now time.Time) (*Log, error) {
	s := &Store{data: l.store.data, project: l.store.project, dir: l.store.agents(l.id)}
	if err := os.MkdirAll(s.dir, dirMode); err != nil {
		return nil, cannotWrite(s.dir, err)
	}
	for n := 1; ; n++ {
		id := name
		if n > 1 {
			id = fmt.Sprintf("%s-%d", name, n)
		}
		path := s.Path(id)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		k, err := lockFile(path)
		if err != nil {
			return nil, err
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
		if err != nil {
			k.Close()
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return nil, cannotWrite(path, err)
		}
		out := &Log{id: id, path: path, store: s, lock: k, f: f}
		m.SessionID = id
		if err := out.Add(now, m); err != nil {
			out.Close()
			os.Remove(path)
			return nil, err
		}
		return out, nil
	}
}
