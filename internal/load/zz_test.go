package load

import (
	"context"
	"fmt"
	"larva.dev/larva/internal/spec"
	"os"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	if os.Getenv("ZZ") == "" {
		t.Skip()
	}
	t0 := time.Now()
	items, err := Specs(context.Background(), []string{os.Getenv("ZZ")}, Options{Dir: "/tmp/a2/u"})
	fmt.Println(err, time.Since(t0))
	for _, it := range items {
		f, l, c := it.At()
		fmt.Printf("ITEM file=%s id=%s unreadable=%v code=%s at=%s:%d:%d\n", it.File, it.ID, it.Unreadable, it.Code, f, l, c)
		for _, p := range it.Problems {
			fmt.Println("   ", p)
		}
		for _, p := range it.Notices {
			fmt.Println("   NOTE", p)
		}
		if it.Source != nil {
			for _, v := range it.Source.Variants {
				o, _ := it.Source.Spec(v.Name)
				fmt.Println("   ", v.Name, string(spec.AppendCanonical(nil, o)))
				f, l, c := it.At("variants", v.Name, "prompt")
				fmt.Println("   prompt at", f, l, c)
			}
		}
		if it.Flat != nil {
			fmt.Println("   ", string(spec.AppendCanonical(nil, it.Flat)))
		}
	}
}
