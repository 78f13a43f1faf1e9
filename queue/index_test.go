package queue

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

// TestIndex compares the index with a map.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newIndex()
		var entries pool
		want := map[string]int32{}
		for range rapid.IntRange(1, 400).Draw(t, "operations") {
			namespace := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace")
			name := fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "name"))
			key := namespace + "/" + name
			if rapid.Bool().Draw(t, "put") {
				pod := &v1.Pod{}
				pod.Namespace, pod.Name = namespace, name
				i := entries.Allocate()
				entries.At(i).pod = pod
				want[key] = i
				x.put(&entries, want[key])
			} else {
				if i, ok := want[key]; ok && !x.remove(&entries, i) {
					t.Fatalf("%s was not found", key)
				}
				delete(want, key)
			}
			if x.used != len(want) {
				t.Fatalf("%d are used, want %d", x.used, len(want))
			}
			for _, ns := range []string{"a", "b"} {
				for i := range 61 {
					w, ok := want[ns+"/"+fmt.Sprint(i)]
					if !ok {
						w = none
					}
					if got := x.get(&entries, ns, fmt.Sprint(i)); got != w {
						t.Fatalf("%s/%d is at %d, want %d", ns, i, got, w)
					}
				}
			}
		}
	})
}
