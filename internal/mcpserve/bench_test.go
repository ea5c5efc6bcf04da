package mcpserve

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"testing"

	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// BenchmarkCall is one call after another over pipes of the system's, and 32
// at a time; scripts/bench measures the same of the whole program.
func BenchmarkCall(b *testing.B) {
	r := registry.Open(b.TempDir())
	o, err := spec.ParseObject([]byte(persona("a")))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := r.Register(o, ""); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, params string }{
		{"validate", `{"name":"larva_validate","arguments":{"spec":` + persona("b") + `}}`},
		{"resolve", `{"name":"larva_resolve","arguments":{"id":"a"}}`},
	} {
		for _, window := range []int{1, 32} {
			b.Run(fmt.Sprintf("%s/%d", c.name, window), func(b *testing.B) { benchmarkCalls(b, r, c.params, window) })
		}
	}
}

func benchmarkCalls(b *testing.B, r *registry.Registry, params string, window int) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- New(Options{Registry: r}).Serve(b.Context(), theirIn, theirOut) }()
	in := bufio.NewReaderSize(ourIn, 64<<10)
	send := func(line string) {
		if _, err := io.WriteString(ourOut, line+"\n"); err != nil {
			b.Fatal(err)
		}
	}
	send(hello)
	if _, err := in.ReadSlice('\n'); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	sent := 0
	call := func() {
		sent++
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, sent, params))
	}
	b.ResetTimer()
	for range min(window, b.N) {
		call()
	}
	for range b.N {
		if _, err := in.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
		if sent < b.N {
			call()
		}
	}
	b.StopTimer()
	ourOut.Close()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	ourIn.Close()
}

// BenchmarkNew is what a start costs.
func BenchmarkNew(b *testing.B) {
	r := registry.Open(b.TempDir())
	b.ReportAllocs()
	for b.Loop() {
		New(Options{Registry: r})
	}
}
