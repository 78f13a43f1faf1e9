package files

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/ring"
)

// TestLongRing: a ring that is not kept tells the same, each time it is read, though it is written meanwhile.
func TestLongRing(t *testing.T) {
	folder, at := t.TempDir(), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	out, err := ring.Create(t.Context(), folder, ring.Bound{Age: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(at, []sources.Event{{Time: at, Fact: &sources.Attached{Nodes: true}}})
	write := func(from, to int) {
		for i := from; i < to; i++ {
			at = at.Add(30 * time.Second)
			pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("pod-", i), UID: types.UID(fmt.Sprint(i)), ResourceVersion: fmt.Sprint(i)}}
			out.Write(at, []sources.Event{{Time: at, Fact: &sources.ObjectChange{Verb: sources.Added, Object: pod}}})
		}
	}
	write(1, 200)
	for _, window := range []ring.Window{{}, {From: "+10m", To: "+30m"}} {
		opts := Options{Window: window, Summary: allSummary}
		kept, err := Open(t.Context(), []string{folder}, opts)
		if err != nil {
			t.Fatal(err)
		}
		opts.LongFrom = 1
		long, err := Open(t.Context(), []string{folder}, opts)
		if err != nil {
			t.Fatal(err)
		}
		if kept.Reread != nil || long.Reread == nil || len(long.Events) != len(kept.Events) || len(long.Events) < 40 || long.Name != kept.Name {
			t.Fatalf("%v: %d events are kept, and %d selected of the long one", window, len(kept.Events), len(long.Events))
		}
		write(1000, 1010)
		for range 2 {
			var got []sources.Event
			for ev, err := range long.All(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, ev)
			}
			if !reflect.DeepEqual(got, kept.Events) {
				t.Errorf("%v: %d events, want %d", window, len(got), len(kept.Events))
			}
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
