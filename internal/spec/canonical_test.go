package spec

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
)

func TestCanonicalText(t *testing.T) {
	t.Parallel()
	// Wants are what Python's json.dumps(sort_keys, ensure_ascii, compact) prints.
	for _, c := range []struct{ in, want string }{
		{`0`, `0`}, {`-0`, `0`}, {`-0.0`, `-0.0`}, {`0.0`, `0.0`}, {`0e5`, `0.0`}, {`-0E-2`, `-0.0`},
		{`1.0`, `1.0`}, {`1e0`, `1.0`}, {`1E5`, `100000.0`}, {`100000.0`, `100000.0`},
		{`0.0001`, `0.0001`}, {`0.00001`, `1e-05`}, {`1e-7`, `1e-07`}, {`123e-9`, `1.23e-07`},
		{`1e15`, `1000000000000000.0`}, {`1e16`, `1e+16`}, {`9999999999999998.0`, `9999999999999998.0`},
		{`12345678901234567.0`, `1.2345678901234568e+16`}, {`5e-324`, `5e-324`}, {`1.7976931348623157e308`, `1.7976931348623157e+308`},
		{`-1.5e300`, `-1.5e+300`}, {`0.1`, `0.1`}, {`1e-400`, `0.0`}, {`-1e-400`, `-0.0`}, {`2.50`, `2.5`},
		{`123456789012345678901234567890`, `123456789012345678901234567890`}, {`-7`, `-7`},
		{`"a/b"`, `"a/b"`}, {`"\/"`, `"/"`}, {`"\b\t\n\f\r\"\\"`, `"\b\t\n\f\r\"\\"`},
		{`"\u0001\u001f\u007f"`, `"\u0001\u001f\u007f"`}, {"\"\x7f~\"", `"\u007f~"`},
		{`"é\u2028🌊"`, `"\u00e9\u2028\ud83c\udf0a"`}, {`"\ud83c\uDF0A"`, `"\ud83c\udf0a"`},
		{` { "b" : [ 1 , null , true , false ] , "a" : { } , "" : [ ] } `, `{"":[],"a":{},"b":[1,null,true,false]}`},
		{`{"🌊":1,"～":2,"é":3,"z":4,"A":5}`, `{"A":5,"z":4,"\u00e9":3,"\uff5e":2,"\ud83c\udf0a":1}`},
		{`{"\ud83c\udf0a":1}`, `{"\ud83c\udf0a":1}`},
	} {
		v, err := Parse([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := string(AppendCanonical(nil, v)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
}

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("no") }

func TestCanonicalGoValues(t *testing.T) {
	t.Parallel()
	var none *Object
	for _, c := range []struct {
		in   any
		want string
	}{
		{nil, `null`}, {none, `null`}, {map[string]any(nil), `null`}, {[]any(nil), `[]`},
		{map[string]any{"b": 1, "a": int64(-2), "c": uint64(3)}, `{"a":-2,"b":1,"c":3}`},
		{[]string{"é"}, `["\u00e9"]`}, {[]*Object{{}}, `[{}]`}, {2.0, `2.0`}, {1e-7, `1e-07`},
		{math.NaN(), `null`}, {math.Inf(-1), `null`}, {failing{}, `null`},
		{json.RawMessage(`{"b":1.50, "a":-0}`), `{"a":0,"b":1.5}`}, {json.RawMessage(`{`), `"{"`}, {json.RawMessage(nil), `null`},
		{json.Number("1e2"), `100.0`}, {"bad \xff", `"bad \ufffd"`},
		{Issue{"C", "<m>", &Object{Members: []Member{{"z", Number("1.0")}, {"a", nil}}}}, `{"code":"C","details":{"a":null,"z":1.0},"message":"<m>"}`},
		{Report{true, []Issue{}, []string{}}, `{"errors":[],"valid":true,"warnings":[]}`},
		{map[string]any{"report": Report{Errors: []Issue{}, Warnings: []string{"w"}}}, `{"report":{"errors":[],"valid":false,"warnings":["w"]}}`},
	} {
		if got := string(AppendCanonical(nil, c.in)); got != c.want {
			t.Errorf("%#v: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestPretty(t *testing.T) {
	t.Parallel()
	v, err := Parse([]byte(`{"b":[1e3,{}],"a":{"y":"é","x":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"a\": {\n    \"x\": [],\n    \"y\": \"\\u00e9\"\n  },\n  \"b\": [\n    1000.0,\n    {}\n  ]\n}\n"
	if got := string(AppendPretty(nil, v)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := string(AppendPretty(nil, map[string]any{"n": 1})), "{\n  \"n\": 1\n}\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestStored(t *testing.T) {
	t.Parallel()
	o, err := ParseObject([]byte(`{"y":{"b":1e3,"a":"é\u0085\u007f\n"},"prompt":"p","x":-0,"model":"m"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"prompt\": \"p\",\n  \"model\": \"m\",\n  \"x\": -0,\n  \"y\": {\n    \"b\": 1e3,\n    \"a\": \"é\\u0085\\u007f\\n\"\n  }\n}\n"
	if got := string(AppendStored(nil, o, ImplementationFields)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Keys must come out sorted on both sides of the sort's change of method.
func TestCanonicalManyKeys(t *testing.T) {
	t.Parallel()
	for _, n := range []int{manyKeys - 1, manyKeys, manyKeys + 1, MaxEntries} {
		o := &Object{}
		for i := n; i > 0; i-- {
			o.Members = append(o.Members, Member{string(rune('a'+i%26)) + string(rune(0x100+i)), Number("1")})
		}
		v, err := Parse(AppendCanonical(nil, o))
		if err != nil {
			t.Fatal(err)
		}
		list := v.(*Object).Members
		if len(list) != n {
			t.Errorf("got %d keys, want %d", len(list), n)
		}
		for i := 1; i < len(list); i++ {
			if list[i-1].Key >= list[i].Key {
				t.Errorf("%d keys: got %q before %q", n, list[i-1].Key, list[i].Key)
			}
		}
	}
}
