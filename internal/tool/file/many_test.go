//go:build unix

package file

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func edits(pairs ...string) []args {
	var out []args
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, args{"old_string": pairs[i], "new_string": pairs[i+1]})
	}
	return out
}

func TestMultiEdit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		edits      []args
		want       string // "" where it fails
		say        string
	}{
		{"in order, each on the last", "a\nb\n", edits("a", "x", "x\nb", "y"), "y\n", "edited f: 2 edits, replaced 2 occurrences"},
		{"one", "a\n", edits("a", "b"), "b\n", "1 edit, replaced 1 occurrence"},
		{"all", "a a\n", []args{{"old_string": "a", "new_string": "b", "replace_all": true}, {"old_string": "b b", "new_string": "c"}}, "c\n", "replaced 3 occurrences"},
		{"none where one fails", "a\nb\n", edits("a", "x", "gone", "y", "b", "z"), "", "f: edit 2 of 3: old_string is not in the file"},
		{"none where the last is ambiguous", "a\nb b\n", edits("a", "x", "b", "z"), "", "edit 2 of 2: old_string occurs 2 times"},
		{"what an edit took away", "a b\n", edits("a b", "c", "a", "x"), "", "edit 2 of 2"},
		{"empty", "a\n", edits("a", "x", "", "y"), "", "edit 2 of 2: old_string is empty"},
		{"same", "a\n", edits("a", "a"), "", "edit 1 of 1: old_string and new_string are the same"},
		{"no edits", "a\n", []args{}, "", "edits: got 0, want 1 to 100"},
		{"too many", "a\n", make([]args, 101), "", "edits: got 101"},
		{"CRLF", "a\r\nb\r\n", edits("a\nb", "x\ny", "y", "z\n"), "x\r\nz\r\n\r\n", "2 edits"},
		{"bytes that are no UTF-8 stay", "k\xe4se a\n", edits("a\n", "b\n"), "k\xe4se b\n", "1 edit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, Options{})
			b.put("proj/f", tt.text)
			b.do("read", args{"path": "f"})
			r := b.do("multi_edit", args{"path": "f", "edits": tt.edits})
			want := tt.want
			if want == "" {
				want = tt.text
			}
			if r.IsError != (tt.want == "") || !strings.Contains(r.Output, tt.say) || b.get("proj/f") != want {
				t.Errorf("got %q error %v file %q, want %q and file %q", r.Output, r.IsError, b.get("proj/f"), tt.say, want)
			}
		})
	}
	b := newBench(t, Options{})
	b.put("proj/f", "a")
	b.fails("multi_edit", args{"path": "f", "edits": edits("a", "b")}, "f has not been read in this run")
}

// Edits that multiply must not take the machine's memory.
func TestEditsDoNotGrowWithoutEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.put("proj/f", strings.Repeat("a", 1<<16))
	b.do("read", args{"path": "f"})
	grow := args{"old_string": "a", "new_string": strings.Repeat("a", 1100) + "b", "replace_all": true}
	b.fails("multi_edit", args{"path": "f", "edits": []args{grow, grow, grow, grow}}, "edit 1 of 4: the file would grow beyond")
	b.fails("edit", args{"path": "f", "old_string": "a", "new_string": strings.Repeat("a", 2000), "replace_all": true}, "would grow beyond")
}

func FuzzApplyAll(f *testing.F) {
	f.Add("a\nb\n", "a", "b", "b", "c", true)
	f.Add("a\r\nb\r\n", "a\nb", "c\nd", "\n", "", true)
	f.Fuzz(func(t *testing.T, text, o1, n1, o2, n2 string, all bool) {
		list := []replacement{{o1, n1, all}, {o2, n2, all}}
		for _, e := range list {
			if e.check() != nil || len(e.NewString) > 1000 {
				return
			}
		}
		got, times, err := applyAll(t.Context(), text, list)
		first, err1 := exchange(text, o1, n1, all)
		second, err2 := exchange(first.text, o2, n2, all)
		switch {
		case err == nil && (err1 != nil || err2 != nil || got != second.text || times != first.times+second.times):
			t.Errorf("got %q %d, one by one %q %v %v", got, times, second.text, err1, err2)
		case err != nil && err1 == nil && err2 == nil:
			t.Errorf("got %v, one by one none", err)
		case err != nil && got != "":
			t.Errorf("got %q beside an error", got)
		}
	})
}

func several(pairs ...string) args {
	var list []args
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, args{"path": pairs[i], "content": pairs[i+1]})
	}
	return args{"files": list}
}

func TestWriteFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.ok("write_files", several("a", "one\n", "n/e/w", "two\nthree\n"), "created a (1 line)\ncreated n/e/w (2 lines)")
	if b.get("proj/a") != "one\n" || b.get("proj/n/e/w") != "two\nthree\n" {
		t.Errorf("got %q, %q", b.get("proj/a"), b.get("proj/n/e/w"))
	}
	b.ok("write_files", several("a", "1\n", "n/f", ""), "overwrote a (1 line)\ncreated n/f (0 lines)")
	e := b.tools["write_files"].Effects(b.call("write_files", several("a", "", "../out/x", "")))
	if len(e.Paths) != 2 || !e.Paths[0].Write || e.Paths[0].Outside || !e.Paths[1].Write || !e.Paths[1].Outside || e.ReadOnly {
		t.Errorf("effects %+v, want both paths for writing", e)
	}
}

// One bad file and none is written; what is wrong is said of each.
func TestWriteFilesChecksAllFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		in   args
		say  string
	}{
		{"one", several("a", "x"), "files: got 1, want 2 to 16"},
		{"many", several(make([]string, 34)...), "files: got 17"},
		{"twice", several("good", "x", "./good", "y"), "./good: the same file as good"},
		{"twice by a link", several("d/x", "x", "link/x", "y"), "the same file as d/x"},
		{"a file and a directory", several("p", "x", "p/q", "y"), "p and p/q: one would have to be"},
		{"not read", several("good", "x", "old", "y"), "old has not been read in this run"},
		{"both named", several("old", "x", "d", "y"), "old has not been read in this run; read it first\nd is a directory"},
		{"below a file", several("good", "x", "old/q", "y"), "old is not a directory"},
		{"outside, unjudged", several("good", "x", "../out/f", "y"), "leads elsewhere"},
		{"a directory's name", several("good", "x", "e/", "y"), "names a directory"},
		{"read-only", several("good", "x", "locked", "y"), "locked is read-only"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, Options{})
			b.put("proj/old", "old\n")
			b.put("proj/d/f", "")
			b.put("proj/locked", "")
			if err := os.Chmod(b.path("proj/locked"), 0o444); err != nil {
				t.Fatal(err)
			}
			b.link("d", "proj/link")
			tl := b.tools["write_files"]
			r, err := tl.Run(t.Context(), b.call("write_files", tt.in))
			if err != nil || !r.IsError || !strings.Contains(r.Output, tt.say) {
				t.Errorf("got %q error %v %v, want %q", r.Output, r.IsError, err, tt.say)
			}
			for _, f := range []string{"proj/good", "proj/p", "out/f", "proj/d/x"} {
				if _, err := os.Lstat(b.path(f)); err == nil {
					t.Errorf("%s was written", f)
				}
			}
			if b.get("proj/old") != "old\n" {
				t.Errorf("old is %q", b.get("proj/old"))
			}
		})
	}
}

// What can only fail while writing is reported file by file.
func TestWriteFilesPartialFailure(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		// A directory that refuses root: one whose name is too long for the disk.
		long := strings.Repeat("n", 300)
		b := newBench(t, Options{})
		r := b.do("write_files", several("a", "1\n", "x/"+long, "2\n", "c", "3\n"))
		if !r.IsError || !strings.HasPrefix(r.Output, "nothing was written:") && !strings.HasPrefix(r.Output, "1 of 3 files were written:\ncreated a (1 line)\nnot written: x/"+long+": ") || !strings.HasPrefix(r.Output, "nothing") && !strings.HasSuffix(r.Output, "\nnot written: c") {
			t.Errorf("got %q", r.Output)
		}
		if _, err := os.Lstat(b.path("proj/c")); err == nil {
			t.Error("c was written after a failure")
		}
		return
	}
	b := newBench(t, Options{})
	b.put("proj/shut/f", "")
	if err := os.Chmod(b.path("proj/shut"), 0o555); err != nil {
		t.Fatal(err)
	}
	r := b.do("write_files", several("a", "1\n", "shut/b", "2\n", "c", "3\n"))
	want := "1 of 3 files were written:\ncreated a (1 line)\nnot written: shut/b: permission denied\nnot written: c"
	if !r.IsError || r.Output != want {
		t.Errorf("got %q, want %q", r.Output, want)
	}
}

// swapFor puts a link to target in a name's place.
func swapFor(name, target string) func(*bench) {
	return func(b *bench) {
		_ = os.Rename(b.path(name), b.path(name)+".gone")
		b.link(target, name)
	}
}

// A link put in the way between judging and running is never followed, by the
// tools for many files either.
func TestSwapBeforeManyWrites(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		tool string
		in   args
		swap func(b *bench)
	}{
		{"a file", "write_files", several("ok", "x", "d/f", "evil"), swapFor("proj/d/f", "../../out/f")},
		{"a new file", "write_files", several("ok", "x", "d/new", "evil"), swapFor("proj/d/new", "../../out/new")},
		{"a directory", "write_files", several("ok", "x", "d/f", "evil"), swapFor("proj/d", "../out")},
		{"into .git", "write_files", several("ok", "x", "d/hooks", "evil"), swapFor("proj/d", ".git")},
		{"a file to edit", "multi_edit", args{"path": "d/f", "edits": edits("old", "evil")}, swapFor("proj/d/f", "../../out/f")},
		{"a directory to edit in", "multi_edit", args{"path": "d/f", "edits": edits("old", "evil")}, swapFor("proj/d", "../out")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, Options{})
			b.put("proj/d/f", "old")
			b.put("out/f", "old")
			b.do("read", args{"path": "d/f"})
			c := b.call(tt.tool, tt.in)
			b.tools[tt.tool].Effects(c)
			tt.swap(b)
			r, err := b.tools[tt.tool].Run(t.Context(), c)
			if err != nil || !r.IsError {
				t.Errorf("got %q, %v, want an error", r.Output, err)
			}
			if got := b.get("out/f"); got != "old" {
				t.Errorf("the file outside holds %q", got)
			}
			for _, f := range []string{"out/new", "proj/.git/hooks", "proj/ok"} {
				if _, err := os.Lstat(b.path(f)); err == nil {
					t.Errorf("%s was written", f)
				}
			}
		})
	}
}

// The swap goes on while the call runs: hundreds of tries, and nothing outside
// is ever touched.
func TestSwapRace(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.put("proj/a/f", "old")
	b.put("out/f", "outside")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(b.path("proj/a"), b.path("proj/b"))
			_ = os.Symlink("../out", b.path("proj/a"))
			_ = os.Remove(b.path("proj/a"))
			_ = os.Rename(b.path("proj/b"), b.path("proj/a"))
		}
	}()
	wrote := 0
	for i := range 150 {
		for name, in := range map[string]args{"write": {"path": "a/f", "content": "evil"}, "write_files": several("a/g", "evil", "a/h", "evil"),
			"multi_edit": {"path": "a/f", "edits": edits("evil", "evil2")}} {
			c := b.call(name, in)
			c.ID = fmt.Sprint(name, i)
			if eff := b.tools[name].Effects(c); eff.Paths[0].Outside {
				continue // permission would ask
			}
			r, err := b.tools[name].Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if !r.IsError {
				wrote++
			}
		}
		b.do("read", args{"path": "a/f"})
	}
	close(stop)
	<-ended
	entries, err := os.ReadDir(b.path("out"))
	if err != nil || len(entries) != 1 || b.get("out/f") != "outside" {
		t.Errorf("outside there is %v, %q", entries, b.get("out/f"))
	}
	if wrote == 0 {
		t.Error("no write ever went through: nothing was tried")
	}
}

func TestWriteKeepsTheManner(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, old, content, want, say string }{
		{"CRLF throughout", "a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n", "(2 lines, CRLF line ends kept)"},
		{"CRLF given", "a\r\nb\r\n", "x\r\ny\n", "x\r\ny\n", "(2 lines)"},
		{"mixed", "a\r\nb\n", "x\ny\n", "x\ny\n", "(2 lines)"},
		{"LF", "a\n", "x\n", "x\n", "(1 line)"},
		{"BOM", "\uFEFFa\n", "x\n", "\uFEFFx\n", "(1 line)"},
		{"BOM given", "\uFEFFa\n", "\uFEFFx\n", "\uFEFFx\n", "(1 line)"},
		{"BOM and nothing left", "\uFEFFa\n", "", "", "(0 lines)"},
		{"Latin-1, a known loss", "k\xe4se\n", "kase\n", "kase\n", "(1 line)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, Options{})
			b.put("proj/f", tt.old)
			b.do("read", args{"path": "f"})
			b.ok("write", args{"path": "f", "content": tt.content}, "overwrote f "+tt.say)
			if got := b.get("proj/f"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	b := newBench(t, Options{})
	b.put("proj/f", "k\xe4se\n")
	b.do("read", args{"path": "f"})
	b.fails("write", args{"path": "f", "content": "k\uFFFDse\nmore\n"}, "f: the file is not UTF-8")
	if got := b.get("proj/f"); got != "k\xe4se\n" {
		t.Errorf("got %q", got)
	}
}

func TestForgetAndSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.put("proj/f", "a\n")
	tools := New(b.rs, Options{})
	for _, tl := range tools {
		b.tools[tl.Spec().Name] = tl
	}
	b.do("read", args{"path": "f"})
	tools.Forget()
	b.fails("edit", args{"path": "f", "old_string": "a", "new_string": "b"}, "has not been read")
	fi, err := os.Stat(b.path("proj/f"))
	if err != nil {
		t.Fatal(err)
	}
	tools.Seen(b.path("proj/f"), fi)
	b.ok("edit", args{"path": "f", "old_string": "a", "new_string": "b"}, "edited f: replaced 1 occurrence, the first at line 1")
}

// webp is the smallest picture in its lossless form, two pixels by one.
const webp = "UklGRh4AAABXRUJQVlA4TBEAAAAvAQAAAAfQ//73v/+BiOh/AAA="

func pictures(t *testing.T) map[string]string {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, 7, 5), color.Palette{color.Black, color.White})
	var p, j, g bytes.Buffer
	if png.Encode(&p, m) != nil || jpeg.Encode(&j, m, nil) != nil || gif.Encode(&g, m, nil) != nil {
		t.Fatal("cannot encode")
	}
	w, err := base64.StdEncoding.DecodeString(webp)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"image/png": p.String(), "image/jpeg": j.String(), "image/gif": g.String(), "image/webp": string(w)}
}

func TestReadPictures(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	for media, data := range pictures(t) {
		name := strings.TrimPrefix(media, "image/")
		for _, file := range []string{name + "." + name, name + ".txt", name} { // the name does not count
			b.put("proj/"+file, data)
			r := b.do("read", args{"path": file, "offset": 900})
			size := "7x5"
			if media == "image/webp" {
				size = "2x1"
			}
			if want := fmt.Sprintf("%s: %s, %s pixels, %d bytes\n", file, media, size, len(data)); r.Output != want || r.IsError ||
				len(r.Images) != 1 || r.Images[0].MediaType != media || string(r.Images[0].Data) != data {
				t.Errorf("got %q error %v %d images, want %q", r.Output, r.IsError, len(r.Images), want)
			}
		}
		b.put("proj/cut", data[:len(data)-4])
		b.fails("read", args{"path": "cut"}, "cannot be shown: it is "+media)
		b.put("proj/huge", data+strings.Repeat("\x00", maxImageBytes))
		b.fails("read", args{"path": "huge"}, "5242880 at most can be shown")
	}
	// What begins like one and is none.
	b.put("proj/t.png", "plain text\n")
	b.ok("read", args{"path": "t.png"}, "     1\tplain text\n")
	b.put("proj/gif.txt", "GIF89a is how a GIF begins\n")
	b.ok("read", args{"path": "gif.txt"}, "     1\tGIF89a is how a GIF begins\n")
	b.put("proj/x.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00")
	b.fails("read", args{"path": "x.png"}, "broken or cut off")
	b.put("proj/svg.png", "<svg/>\n")
	b.ok("read", args{"path": "svg.png"}, "     1\t<svg/>\n")
	wide := pictures(t)["image/png"]
	wide = wide[:16] + "\x00\x00\x27\x10" + wide[20:]
	b.put("proj/wide.png", wide)
	r := b.do("read", args{"path": "wide.png"})
	if !r.IsError || len(r.Images) != 0 {
		t.Errorf("10000 pixels wide: got %q, %d images, want a refusal", r.Output, len(r.Images))
	}
}

func FuzzPicture(f *testing.F) {
	for _, s := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe0\x00", "GIF89a\x00", "RIFF\x00\x00\x00\x00WEBPVP8 ", "RIFF\x16\x00\x00\x00WEBPVP8X"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		img, c, err := picture(file, int64(len(data)))
		if img != nil && (err != nil || c.Width < 1 || c.Height < 1 || c.Width > maxImagePixels || len(img.Data) > maxImageBytes) {
			t.Errorf("got %d bytes %+v %v", len(img.Data), c, err)
		}
		if at, _ := file.Seek(0, 1); at != 0 {
			t.Errorf("the file stands at %d", at)
		}
	})
}
