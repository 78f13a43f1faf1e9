package manifest

import (
	"strings"
	"testing"
)

func TestObject(t *testing.T) {
	for _, c := range []struct{ doc, want, refused string }{
		{doc: "a: yes\nb: {c: 1}\n", want: `{"a":true,"b":{"c":1}}`}, // YAML 1.1
		{doc: "# nothing\n", refused: "no object"},
		{doc: "- 1\n", refused: "no object"},
		{doc: "text\n", refused: "no object"},
		{doc: "a: [\n", refused: "it is no YAML: yaml: line 1"},
		{doc: "a: &a [1]\nb: [*a, *a]\n", refused: "it has aliases"},
		{doc: "? [a, b]\n: 1\n", refused: "it is no YAML"}, // a key that is none in JSON
		{doc: "\"\\e\": [", refused: "it is no YAML"},
	} {
		got, err := ObjectJSON([]byte(c.doc))
		if string(got) != c.want || (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%q: %s, %v, want %s%s", c.doc, got, err, c.want, c.refused)
		}
	}
}
