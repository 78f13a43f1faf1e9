package queue

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestIndex compares the index with a map.
func TestIndex(t *testing.T) {
	type value struct {
		space, name string
		hash        uint32
	}
	rapid.Check(t, func(t *rapid.T) {
		x := newNameIndex(func(v *value) (string, string) { return v.space, v.name }, func(v *value) *uint32 { return &v.hash })
		var values chunkedPool[value]
		want := map[string]int32{}
		for range rapid.IntRange(1, 400).Draw(t, "operations") {
			space := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "space")
			name := fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "name"))
			key := space + "/" + name
			old, known := want[key]
			if !known {
				old = noValue
			}
			add := func() int32 {
				i := values.Allocate()
				*values.At(i) = value{space: space, name: name}
				return i
			}
			switch rapid.SampledFrom([]string{"put", "add", "remove"}).Draw(t, "operation") {
			case "put":
				i := add()
				if before := x.Put(&values, i); before != old {
					t.Fatalf("%s was %d, want %d", key, before, old)
				}
				want[key] = i
			case "add":
				i := add()
				if other := x.Add(&values, i); other != old {
					t.Fatalf("%s is %d, want %d", key, other, old)
				}
				if !known {
					want[key] = i
				}
			default:
				if known && !x.Remove(&values, old) {
					t.Fatalf("%s was not found", key)
				}
				delete(want, key)
			}
			if x.used*2 > len(x.slots) {
				t.Fatalf("%d of %d places are used: a name is far to look for", x.used, len(x.slots))
			}
			if x.Len() != len(want) {
				t.Fatalf("%d are found, want %d", x.Len(), len(want))
			}
			for _, sp := range []string{"a", "b"} {
				for i := range 61 {
					w, ok := want[sp+"/"+fmt.Sprint(i)]
					if !ok {
						w = noValue
					}
					if got := x.Get(&values, sp, fmt.Sprint(i)); got != w {
						t.Fatalf("%s/%d is at %d, want %d", sp, i, got, w)
					}
				}
			}
		}
	})
}
