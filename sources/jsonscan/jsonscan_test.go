package jsonscan

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMembers(t *testing.T) {
	in := ` {"a":"x\"}\\","b" : [1,{"c":"]"}] , "d":{"e":null},"f":-1.5e3,"g":true}`
	want := `a="x\"}\\" b=[1,{"c":"]"}] d={"e":null} f=-1.5e3 g=true `
	got := ""
	if err := Members([]byte(in), func(name, value []byte) bool {
		got += string(name) + "=" + string(value) + " "
		return true
	}); err != nil || got != want {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
}

func TestElements(t *testing.T) {
	got := ""
	if err := Elements([]byte(`[ 1, "a,]" ,{"b":[2]} ]`), func(value []byte) error {
		got += string(value) + ";"
		return nil
	}); err != nil || got != `1;"a,]";{"b":[2]};` {
		t.Errorf("%v %s", err, got)
	}
}

func TestNotJSON(t *testing.T) {
	for _, in := range []string{"", " ", "a", `"a"`, "[]", "{", `{"a`, `{"a"`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":1,`, `{"a":"b`, `{"a":"\`,
		`{"a":[`, `{"a":{"b":1}`, `{a:1}`, `{"a" 1}`, `{"a":1 "b":2}`, strings.Repeat(`{"a":`, 1<<20)} {
		if err := Members([]byte(in), func(_, _ []byte) bool { return true }); err != ErrNotJSON {
			t.Errorf("%.20q: %v", in, err)
		}
	}
	for _, in := range []string{"", "{}", "[", "[1", "[1,", "[1 2]"} {
		if err := Elements([]byte(in), func([]byte) error { return nil }); err != ErrNotJSON {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// FuzzMembers checks that whatever is JSON is taken apart as encoding/json does it.
func FuzzMembers(f *testing.F) {
	f.Add(`{"a":"x\"}\\","b":[1,{"c":"]"}],"d":{}}`)
	f.Add(`{"a":"\\\"`)
	f.Fuzz(func(t *testing.T, in string) {
		got := map[string]string{}
		err := Members([]byte(in), func(name, value []byte) bool {
			got[string(name)] = string(value)
			return true
		})
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(in), &want) != nil || want == nil || strings.Contains(in, `\`) {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		for name, value := range want {
			if strings.ToValidUTF8(name, "") == name && got[name] != strings.TrimSpace(string(value)) {
				t.Fatalf("%q: %q is %q, want %q", in, name, got[name], value)
			}
		}
	})
}

// TestLastText: it is what bytes.LastIndex finds, wherever that is.
func TestLastText(t *testing.T) {
	const key = `"stageTimestamp":"`
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{key, key, `"stage`, `Timestamp":"`, "T", `"`, "10:00:03", strings.Repeat("x", 300), strings.Repeat("T", 300), strings.Repeat("-", 4000)}
	found := 0
	for range 20_000 {
		text := ""
		for range random.IntN(12) {
			text += parts[random.IntN(len(parts))]
		}
		text = text[min(len(text), random.IntN(20)):]
		var want []byte
		if i := strings.LastIndex(text, key); i >= 0 {
			if said, _, ended := strings.Cut(text[i+len(key):], `"`); ended {
				want = []byte(said)
				found++
			}
		}
		if got := LastText([]byte(text), key, len(`"stage`)); !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Fatalf("of %q it is %q, want %q", text, got, want)
		}
	}
	if found < 1000 {
		t.Errorf("%d texts have one", found)
	}
}

// TestUnescape: a string is unescaped as encoding/json does it.
func TestUnescape(t *testing.T) {
	for _, raw := range []string{`""`, `"a"`, `"\""`, `"\\"`, `"\\\""`, `"\/\b\f\n\r\tx"`, `"\u00fc\n"`, `"ü\\u0041"`, `"{\"kind\":\"Event\"}"`, `7`, `null`, `"\u003cnone\u003e"`,
		`"\ud83d\ude00 a"`, `"a \ud83d"`, `"\u00"`} {
		var want string
		_ = json.Unmarshal([]byte(raw), &want)
		if got := string(Unescape(nil, []byte(raw))); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

// FuzzUnescape compares with encoding/json, and where strings end that have quotes in them.
func FuzzUnescape(f *testing.F) {
	f.Add("a \"b\" \\ and \n more \u00fc than eight <bytes>")
	f.Add("\\\"\\\"\"\\")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Unescape([]byte("before"), raw)); got != "before"+text {
			t.Errorf("%s is %q, want %q", raw, got, text)
		}
		if end := End(append(raw, `","b"`...), 0); end != len(raw) {
			t.Errorf("%s ends at %d, want %d", raw, end, len(raw))
		}
		Unescape(nil, []byte(`"`+text+`"`)) // whatever it is
	})
}
