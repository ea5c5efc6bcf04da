package load
import ("testing";"context";"os")
func BenchmarkDir(b *testing.B) {
  d := os.Getenv("DIR")
  for b.Loop() { items, err := Specs(context.Background(), []string{d}, Options{Trusted: true}); if err != nil || len(items)!=3 {b.Fatal(items)} }
}
