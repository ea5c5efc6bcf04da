package pi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// settings is the one file that Pi rewrites by itself: a capsule has a copy.
const settings = "settings.json"

// made are entries that Pi would create inside a capsule, where they would be
// lost at its end. They are made in the base directory first, empty.
var made = []struct{ name, text string }{
	{"sessions", ""}, // a directory
	{"auth.json", "{}\n"},
	{"trust.json", "{}\n"},
	{"models-store.json", "{}\n"},
}

// maxSettings bounds what is copied: a file beyond it is no list of settings.
const maxSettings = 4 << 20

// Capsule makes dir, which must not be there, the agent directory of one run: a
// copy of base's settings and a link to everything else in base. Nothing that
// is in base is changed; what Pi would create is created there, empty. An error
// leaves nothing behind but those.
//
// Both directories are absolute. The parent of dir is the run's own, 0700.
func Capsule(base, dir string) (err error) {
	if err := prepare(base); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("capsule: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, Remove(dir))
		}
	}()
	if err := os.Chmod(dir, 0o700); err != nil { // whatever the umask
		return fmt.Errorf("capsule: %w", err)
	}
	entries, err := os.ReadDir(base)
	if err != nil {
		return fmt.Errorf("capsule: %w", err)
	}
	for _, e := range entries {
		from, to := filepath.Join(base, e.Name()), filepath.Join(dir, e.Name())
		if e.Name() == settings {
			err = copySettings(from, to)
		} else {
			err = os.Symlink(from, to)
		}
		if err != nil {
			return fmt.Errorf("capsule: %w", err)
		}
	}
	return nil
}

// prepare sees that base is there, with the entries in made. O_EXCL and Mkdir
// neither follow nor change what is there already, a dangling link included.
func prepare(base string) error {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return fmt.Errorf("agent directory: %w", err)
	}
	for _, m := range made {
		path := filepath.Join(base, m.name)
		var err error
		if m.text == "" {
			err = os.Mkdir(path, 0o700)
		} else {
			err = create(path, []byte(m.text))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("agent directory: %w", err)
		}
	}
	return nil
}

// copySettings copies what the settings are, through a link where they are one.
func copySettings(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSettings {
		return fmt.Errorf("%s: no regular file of at most %d bytes", from, maxSettings)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return create(to, text)
}

// create writes a file that is not there yet, mode 0600.
func create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// Remove takes a capsule, or a whole run's directory, away: its links, never
// what they lead to. One that is itself a link is unlinked and nothing else.
// One that is gone already is no error.
func Remove(dir string) error {
	if err := os.RemoveAll(dir); err != nil { // follows no link, neither dir nor below it
		return fmt.Errorf("capsule: %w", err)
	}
	return nil
}
