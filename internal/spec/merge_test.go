package spec

import "testing"

func TestNest(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`:                                   `{}`,
		`{"a":1}`:                              `{"a":1}`,
		`{"a.b":1,"a.c":2,"a.d.e":3}`:          `{"a":{"b":1,"c":2,"d":{"e":3}}}`,
		`{"a":[1],"a.b":2}`:                    `{"a":{"b":2}}`,
		`{"a.b":2,"a":[1]}`:                    `{"a":[1]}`,
		`{"a":{"x":1,"y":{"z":1}},"a.y.w":2}`:  `{"a":{"x":1,"y":{"w":2,"z":1}}}`,
		`{"a.x":1,"a":{"y":2}}`:                `{"a":{"x":1,"y":2}}`,
		`{"a.x":1,"a":{"x":{}},"a.x.y":null}`:  `{"a":{"x":{"y":null}}}`,
		`{".a":1,"b.":2,"c..d":3,"..":4,"":5}`: `{"":5,"a":1,"b":2,"c":{"d":3}}`,
		`{"a":{"b.c":1},"a.b.c":2}`:            `{"a":{"b":{"c":2},"b.c":1}}`,
	} {
		o, err := ParseObject([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		got := string(AppendCanonical(nil, Nest(o)))
		if got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
		if again, _ := ParseObject([]byte(in)); string(AppendCanonical(nil, o)) != string(AppendCanonical(nil, again)) {
			t.Errorf("%s: got changed to %s, want it left alone", in, AppendCanonical(nil, o))
		}
	}
}
