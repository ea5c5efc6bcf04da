package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

func TestFormatOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		want string
	}{
		{"list", "text"},
		{"list --json", "json"},
		{"--json list", "json"},
		{"list --json=true", "json"},
		{"list -o json", "json"},
		{"list -ojson", "json"},
		{"list -o=json", "json"},
		{"list --output json", "json"},
		{"list --output=json", "json"},
		{"run x -o stream-json", "stream-json"},
		{"run x -o stream-json --json", "json"},
		{"list -o text", "text"},
		{"list -o", "text"},
		{"list -- --json", "text"},
		{"run x -- -o json", "text"},
		{"list -o yaml", "text"},
	} {
		if got := formatOf(strings.Fields(c.args)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.args, got, c.want)
		}
	}
}

func TestPairs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string // canonical JSON, or the error's text
	}{
		{nil, `{}`},
		{[]string{"model=a=b"}, `{"model":"a=b"}`},
		{[]string{"model="}, `{"model":""}`},
		{[]string{"prompt=42", "description=true", "compaction_prompt=null"}, `{"compaction_prompt":"null","description":"true","prompt":"42"}`},
		{[]string{"can_spawn=false"}, `{"can_spawn":false}`},
		{[]string{`can_spawn=["a","b"]`}, `{"can_spawn":["a","b"]}`},
		{[]string{"model_params.temperature=0.20"}, `{"model_params.temperature":0.2}`},
		{[]string{"model_params.top_k=7"}, `{"model_params.top_k":7}`},
		{[]string{"model_params.x=NaN", "model_params.y=1_000", "model_params.z=01"}, `{"model_params.x":"NaN","model_params.y":"1_000","model_params.z":"01"}`},
		{[]string{"capabilities.git=read_only"}, `{"capabilities.git":"read_only"}`},
		{[]string{"model=x", "model=y"}, `{"model":"y"}`},
		{[]string{"model"}, "INVALID_INPUT: --set model: expected KEY=VALUE"},
		{[]string{"=x"}, "INVALID_INPUT: --set =x: expected KEY=VALUE"},
		{[]string{""}, "INVALID_INPUT: --set : expected KEY=VALUE"},
		{[]string{"prompt=\xff"}, "INVALID_INPUT: --set prompt: invalid UTF-8"},
	} {
		o, err := pairs("--set", c.args)
		got := string(spec.AppendCanonical(nil, o))
		if err != nil {
			got = err.Error()
			if code := diag.As(err).ExitCode(); code != diag.ExitUsage {
				t.Errorf("%q: exit %d, want %d", c.args, code, diag.ExitUsage)
			}
		}
		if got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.args, got, c.want)
		}
	}
	for _, beyond := range []string{"model_params.x=1e999", `model_params={"a":1,"a":2}`, "model_params.x=" + strings.Repeat("9", 65)} {
		if o, err := pairs("--set", []string{beyond}); err == nil {
			t.Errorf("%.40s: got %s, want an error", beyond, spec.AppendCanonical(nil, o))
		}
	}
}

func TestNested(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"model=x"}, `{"model":"x"}`},
		{[]string{"a.b=1", "a.c=2", "a.d.e=3"}, `{"a":{"b":1,"c":2,"d":{"e":3}}}`},
		{[]string{"a=1", "a.b=2"}, `{"a":{"b":2}}`},
		{[]string{"a.b=2", "a=1"}, `{"a":1}`},
		{[]string{`a={"x":1}`, "a.y=2"}, `{"a":{"x":1,"y":2}}`},
		{[]string{"a..b=1"}, "error"},
		{[]string{".a=1"}, "error"},
		{[]string{"a.=1"}, "error"},
	} {
		flat, err := pairs("--set", c.args)
		if err != nil {
			t.Fatal(err)
		}
		o, err := nested("--set", flat)
		got := string(spec.AppendCanonical(nil, o))
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.args, got, c.want)
		}
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                    "",
		"plain, ünïcode 🌊":    "plain, ünïcode 🌊",
		"a\tb\nc\rd":          `a\tb\nc\rd`,
		"\x1b[31mred":         `\u001b[31mred`,
		"\x7f\u009b\u0085":    `\u007f\u009b\u0085`,
		"\u202egnp.exe":       `\u202egnp.exe`,
		"line\u2028sep\ufeff": `line\u2028sep\ufeff`,
	} {
		if got := escape(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"a", "\x1b]8;;x\x07", "\xff\xfe", "\u2066"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := escape(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q: got invalid UTF-8 %q", s, got)
		}
		if i := strings.IndexFunc(got, unsafeRune); i >= 0 {
			t.Errorf("%q: got %q, which holds a control character at %d", s, got, i)
		}
		if again := escape(got); again != got {
			t.Errorf("%q: escaped twice is %q, want %q", s, again, got)
		}
	})
}

func TestPrintProblems(t *testing.T) {
	t.Parallel()
	at := func(line int, message string) diag.Problem {
		return diag.Problem{File: "a.json", Line: line, Col: 1, Message: message}
	}
	for _, c := range []struct {
		name string
		err  *diag.Error
		want string
	}{
		{"plain", diag.New(diag.PersonaNotFound, "there is no\x07 x"), "w: PERSONA_NOT_FOUND: there is no\\u0007 x\n"},
		{"one place", &diag.Error{Code: diag.PersonaInvalid, Message: "m", Problems: []diag.Problem{at(3, "bad")}}, "w: PERSONA_INVALID: 1 problem\na.json:3:1: bad\n"},
		{"two places", &diag.Error{Code: diag.PersonaInvalid, Message: "m", Problems: []diag.Problem{at(3, "bad"), at(4, "worse\n")}}, "w: PERSONA_INVALID: 2 problems\na.json:3:1: bad\na.json:4:1: worse\\n\n"},
		{"whole file", &diag.Error{Code: diag.InvalidInput, Message: "m", Problems: []diag.Problem{{File: "a.json", Message: "gone"}}}, "w: INVALID_INPUT: a.json: gone\n"},
		{"message counts", &diag.Error{Code: diag.BaseContractMismatch, Message: "m", Problems: []diag.Problem{at(3, "x")}}, "w: BASE_CONTRACT_MISMATCH: m\na.json:3:1: x\n"},
	} {
		var b strings.Builder
		printProblems(&b, "w", c.err)
		if d := cmp.Diff(b.String(), c.want); d != "" {
			t.Errorf("%s (-got +want):\n%s", c.name, d)
		}
	}
}

// stuck never answers a Read until it is closed.
type stuck struct{ done chan struct{} }

func (s stuck) Read([]byte) (int, error) { <-s.done; return 0, io.EOF }

func TestUntilDone(t *testing.T) {
	t.Parallel()
	got, err := io.ReadAll(untilDone(t.Context(), strings.NewReader(strings.Repeat("x", 100_000))))
	if err != nil || len(got) != 100_000 {
		t.Errorf("got %d bytes and %v, want 100000 and no error", len(got), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := stuck{make(chan struct{})}
	defer close(s.done)
	r := untilDone(ctx, s)
	cancel()
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// TestUntilOrphan: a stdin that says nothing is waited for as long as the
// parent lives, with one hint, and not for ever after that.
func TestUntilOrphan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := stuck{make(chan struct{})}
		r := untilDone(t.Context(), s)
		hints := 0
		r.slow = func() { hints++ }
		began := time.Now()
		r.born, r.parent = 7, func() int {
			if time.Since(began) > time.Hour {
				return 1
			}
			return 7
		}
		_, err := r.Read(make([]byte, 1))
		if took := time.Since(began); !errors.Is(err, errOrphan) || took < time.Hour+orphanWait || took > time.Hour+orphanWait+2*orphanLook || hints != 1 {
			t.Errorf("got %v after %s with %d hints, want %v after %s with 1", err, took, hints, errOrphan, time.Hour+orphanWait)
		}
		close(s.done)
	})
}

// TestInterrupted holds the exit code of a cancelled command to the signal.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]*diag.Error{
		"Ctrl-C":    {Code: diag.Interrupted, Message: "interrupted", Exit: diag.ExitInterrupted},
		"terminate": {Code: diag.Interrupted, Message: "terminated", Exit: diag.ExitTerminated},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		var out, errs strings.Builder
		code := Main(ctx, Process{Args: []string{"validate", "-"}, Stdin: strings.NewReader("{}"), Stdout: &out, Stderr: &errs, Dir: t.TempDir()})
		if code != cause.Exit || out.String() != "" || !strings.Contains(errs.String(), "INTERRUPTED: "+cause.Message) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want exit %d and one error", name, code, &out, &errs, cause.Exit)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestFullDisk: a result that cannot be written is a failure that is said.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"list", "list --json", "--help", "completion bash", "resolve nobody --json"} {
		var errs strings.Builder
		code := Main(t.Context(), Process{Args: strings.Fields(args), Stdin: strings.NewReader(""), Stdout: full{}, Stderr: &errs,
			Environ: []string{"HOME=" + t.TempDir()}, Dir: t.TempDir()})
		if code == 0 || errs.String() == "" {
			t.Errorf("%s: exit %d, stderr %q; want a failure and a message", args, code, &errs)
		}
	}
}
