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
		x := newIndex(byName)
		var entries pool
		want := map[string]int32{}
		wanted := func(key string) int32 {
			if i, ok := want[key]; ok {
				return i
			}
			return none
		}
		for range rapid.IntRange(1, 400).Draw(t, "operations") {
			namespace := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace")
			name := fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "name"))
			key := namespace + "/" + name
			old := wanted(key)
			allocate := func() int32 {
				i := entries.Allocate()
				pod := &v1.Pod{}
				pod.Namespace, pod.Name = namespace, name
				entries.At(i).pod = pod
				return i
			}
			switch rapid.SampledFrom([]string{"put", "add", "remove"}).Draw(t, "operation") {
			case "put":
				i := allocate()
				if replaced := x.Put(&entries, i); replaced != old {
					t.Fatalf("Put(%s) replaced %d, want %d", key, replaced, old)
				}
				want[key] = i
			case "add":
				i := allocate()
				if other := x.Add(&entries, i); other != old {
					t.Fatalf("Add(%s) = %d, want %d", key, other, old)
				}
				if old == none {
					want[key] = i
				}
			default:
				if old != none && !x.Remove(&entries, old) {
					t.Fatalf("Remove(%s) found nothing", key)
				}
				delete(want, key)
			}
			if x.used*2 > len(x.slots) {
				t.Fatalf("%d of %d slots are used, want at most half", x.used, len(x.slots))
			}
			if x.Len() != len(want) {
				t.Fatalf("Len() = %d, want %d", x.Len(), len(want))
			}
			for _, ns := range []string{"a", "b"} {
				for n := range 61 {
					if got, want := x.Get(&entries, ns, fmt.Sprint(n)), wanted(fmt.Sprintf("%s/%d", ns, n)); got != want {
						t.Fatalf("Get(%s/%d) = %d, want %d", ns, n, got, want)
					}
				}
			}
		}
	})
}

// TestShrink checks that a slice shrinks when it is mostly empty, and keeps its elements.
func TestShrink(t *testing.T) {
	s := make([]int, 5000)
	s[1] = 7
	for n, most := range map[int]int{1000: 5000, 100: 500} {
		if got := shrink(s[:n]); len(got) != n || cap(got) > most || got[1] != 7 {
			t.Errorf("shrink to %d elements: length %d, capacity %d, want at most %d", n, len(got), cap(got), most)
		}
	}
	if got := shrink(make([]int, 0, 100)); cap(got) != 100 {
		t.Errorf("shrink of a small slice: capacity %d, want 100", cap(got))
	}
}
