package report

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// TestPodNames: pods have consecutive numbers by name, and names by number.
func TestPodNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching("[ab/]{0,3}"), rapid.String(), rapid.StringMatching("x{120,300}"))
		var names podNames
		known := map[types.NamespacedName]uint32{}
		for range rapid.IntRange(0, 300).Draw(t, "count") {
			pod := types.NamespacedName{Namespace: text.Draw(t, "namespace"), Name: text.Draw(t, "name")}
			want, is := known[pod]
			if !is {
				want = uint32(len(known))
				known[pod] = want
			}
			if got := names.number(pod); got != want {
				t.Fatalf("%q has the number %d, want %d", pod, got, want)
			}
		}
		if names.count() != len(known) {
			t.Fatalf("there are %d, want %d", names.count(), len(known))
		}
		for pod, number := range known {
			if got := names.name(number); got != pod {
				t.Fatalf("%d is %q, want %q", number, got, pod)
			}
		}
	})
}

// TestPodSet: a pod is counted once.
func TestPodSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s podSet
		known := map[uint32]bool{}
		for _, pod := range rapid.SliceOf(rapid.OneOf(rapid.Uint32Range(0, 130), rapid.Uint32())).Draw(t, "pods") {
			known[pod] = true
			if s.add(pod); s.count != len(known) {
				t.Fatalf("there are %d, want %d", s.count, len(known))
			}
		}
	})
}
