package load
import ("testing";"context";"os";"fmt";"larva.dev/larva/personas";"larva.dev/larva/profiles";"larva.dev/larva/internal/diag")
func TestZ2(t *testing.T) {
  if os.Getenv("ZZ")=="" {t.Skip()}
  items, err := SpecsFS(context.Background(), personas.FS, "personas")
  fmt.Println(err)
  for _, it := range items { f,l,c:=it.At("variants","default","prompt"); fmt.Println(it.File, it.ID, it.Source!=nil, it.Problems, f,l,c) }
  ls, err := ProfilesFS(context.Background(), profiles.FS)
  fmt.Println(err)
  for n, l := range ls { fmt.Println(n, l.File, l.Profile.Mode, l.Origins) }
  dir := write(t, map[string]string{"config.toml": "mod = \"plan\"\nmodels = 5\n[permissions]\nallow = [\"bash(x)\", \"b (\"]\n[limits]\nmax_turns = 0\ntime = \"5x\"\n[[hooks.PreToolUse]]\nhooks=[{type=\"comand\"}]\n[[hooks.PreTooluse]]\nhooks=[]\n[providers.x]\nbase_url=\"ftp://x\"\n",
   "ok.toml":"mode='plan'\n[permissions]\ndeny=['bash(rm *)',\n'read(x)']\n[limits]\nusd=5\n",
   "config.cue": "mod: \"plan\"\nmodels: 5\npermissions: allow: [\"bash(x)\", \"b (\"]\nlimits: {max_turns: 0, time: \"5x\"}\nhooks: PreToolUse: [{hooks: [{type: \"comand\"}]}]\nscripts: s: turns: [{calls: [{tool: \"\", input: 3}], error: {}}]\n",
   "s.yaml":"turns:\n- text: hi\n  calls:\n  - tool: read\n    input: {path: x, n: 5}\n  repeat: true\n- when: {turn: 0}\n",
   "s.json":"{\"turns\":[{\"text\":\"hi\",\"calls\":[{\"tool\":\"read\",\"input\":{\"b\":1,\"a\":1.0}}]},{\"error\":{\"status\":529}}]}",
   })
  for _, f := range []string{"config.toml","ok.toml","config.cue","s.yaml"} {
  l, err := Profile(context.Background(), f, Options{Dir: dir})
  fmt.Println(f, "ERR", err, l.Origins, l.Profile.Permissions)
  if e, ok := err.(interface{Error() string}); ok { _ = e; for _, p := range asErr(err) { fmt.Println("  ", p) } }
  }
  for _, f := range []string{"s.yaml","s.json"} {
  s, err := Scenario(context.Background(), f, Options{Dir: dir})
  fmt.Printf("%+v\n", s); for _, p := range asErr(err) { fmt.Println("  ", p) } 
  }
}
func asErr(err error) (out []string) { if err==nil {return nil}; e := diag.As(err); for _, p := range e.Problems { out = append(out, p.String()) }; if len(out)==0 { out = append(out, e.Error()) }; return }
