package sources

import (
	"reflect"
	"testing"

	"github.com/schedq/schedq/sources/jsonscan"
)

// opened is what an object's text tells, gone over once for each part.
func opened(raw []byte) (*Envelope, error) {
	e := &Envelope{raw: raw}
	err := jsonscan.Members(raw, func(name, value []byte) bool {
		if string(name) != "metadata" {
			e.member(name, value)
			return true
		}
		e.twice = e.twice || e.Metadata != nil
		e.Metadata = value
		return true
	})
	if err != nil || e.Metadata == nil || e.Metadata[0] != '{' {
		return e, err
	}
	return e, jsonscan.Members(e.Metadata, func(name, value []byte) bool {
		e.ofMetadata(name, value)
		return true
	})
}

// FuzzOpen: what is found on one way over a text is what is found part by part, and where the text is in another, it ends there where
// its value ends.
func FuzzOpen(f *testing.F) {
	for _, text := range []string{usual, ` {"metadata":{"uid":"a"},"metadata":{"finalizers":["a"]},"kind":"Pod"}x`, `{"metadata":{"a" 1},"kind":"Pod"}`,
		`{"metadata":{"a" 1},"metadata":{}}`, `{"metadata":{},"metadata":{"a" 1}}`, `{"metadata":[{"uid":1}],"status":1,"status":2}`, `{"metadata":null,"spec":{"}":"]"}}`, `{"kind":7,"metadata":}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, wantErr := opened([]byte(text))
		got, err := Open([]byte(text))
		if err != wantErr {
			t.Fatalf("%q: %v, want %v", text, err, wantErr)
		}
		if len(got.managed) == 0 {
			got.managed = want.managed
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is\n%+v, want\n%+v", text, got, want)
		}
		used := Envelope{APIVersion: "v7", uid: []byte("u"), managed: [][]byte{{}}, twice: true, torn: true, Finalizers: []byte("[7]")}
		around := []byte(`[` + text)
		if end := used.Over(around, 1); end >= 0 {
			if end != jsonscan.End(around, 1) {
				t.Fatalf("%q ends at %d, want %d", text, end, jsonscan.End(around, 1))
			}
			got.raw, got.managed = used.raw, used.managed
			if err != nil || !reflect.DeepEqual(&used, got) {
				t.Fatalf("%q is\n%+v, want\n%+v", text, &used, got)
			}
		} else if err == nil && text[0] == '{' {
			t.Fatalf("%q is gone over in vain", text)
		}
	})
}
