package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a rule fixes stays as it is, whatever program writes and whether or not
// its words say so; what lies beside it can be written.
func TestFixed(t *testing.T) {
	t.Parallel()
	writers := []string{
		`echo x > dev/a.txt`,
		`python3 -c 'open("dev/a.txt","w").write("x")'`,
		`cp README dev/a.txt`,
		`sed -i s/kept/lost/ dev/a.txt src/b.lock`,
		`rm -rf dev; mkdir -p dev; echo x > dev/a.txt`,
		`mv dev dev2; mkdir dev; echo x > dev/a.txt`,
		`mv src/b.lock src/c; echo x > src/b.lock`,
		`find . -name '*.lock' -exec rm {} +`,
		`ln -sf README dev/a.txt`,
		`echo x > link.txt`,
		`tar cf dev/a.txt README`,
		`git checkout -q -f HEAD~ -- .`,
		`truncate -s 0 vendor/m/v.go`,
	}
	for _, kind := range []string{Bubblewrap, Landlock} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			want := map[string]string{"dev/a.txt": "kept\n", "src/b.lock": "kept\n", "vendor/m/v.go": "kept\n"}
			for _, d := range []string{"dev", "vendor/m"} {
				if err := os.MkdirAll(filepath.Join(h.project, d), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for name := range want {
				put(t, filepath.Join(h.project, name), "old\n")
			}
			git(t, h.project, "add", "-f", "dev", "src/b.lock", "vendor")
			git(t, h.project, "commit", "-qm", "old")
			for name, text := range want {
				put(t, filepath.Join(h.project, name), text)
			}
			git(t, h.project, "commit", "-qam", "new")
			if err := os.Symlink("dev/a.txt", filepath.Join(h.project, "link.txt")); err != nil {
				t.Fatal(err)
			}
			h.o.Fixed = func(_, real string) bool {
				return within(h.project+"/dev", real) || within(h.project+"/vendor", real) || strings.HasSuffix(real, ".lock")
			}
			w := wall(t, kind, h.o)
			for _, line := range writers {
				_ = os.Remove(h.project + "/src/free.txt")
				r, _ := in(t, w, line+`; echo beside > src/free.txt`)
				for name, text := range want {
					if got, _ := os.ReadFile(filepath.Join(h.project, name)); string(got) != text {
						t.Errorf("%s: %s holds %q, want %q\n%s", line, name, got, text, r.Stdout)
					}
				}
				if got, _ := os.ReadFile(h.project + "/src/free.txt"); string(got) != "beside\n" {
					t.Errorf("%s: src/free.txt holds %q, want it written\n%s", line, got, r.Stdout)
				}
			}
		})
	}
}
