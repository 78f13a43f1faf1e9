package shadow

import (
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// TestAdd: the scheduler hears of changes when its log says so, and of those of one kind in their order.
func TestAdd(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }
	pod := func(name string, heard float64) *sources.ObjectChange {
		p := &v1.Pod{}
		p.Name, p.UID = name, types.UID(name[:1])
		c := &sources.ObjectChange{Verb: sources.Updated, Object: p}
		if heard != 0 {
			c.Delivered = at(heard)
		}
		return c
	}
	node := &sources.ObjectChange{Verb: sources.Added, Object: &v1.Node{}}
	for _, c := range []struct {
		name string
		told []*sources.ObjectChange
		want []string
	}{
		{"by the watch's delay", []*sources.ObjectChange{pod("a", 0), node, pod("b", 0)}, []string{"a 1ms", "node 1ms", "b 1ms"}},
		{"late", []*sources.ObjectChange{pod("a", 0.009), node}, []string{"node 1ms", "a 9ms"}},
		{"before its answer", []*sources.ObjectChange{pod("a", -1)}, []string{"a 0s"}},
		{"late, and so what comes behind", []*sources.ObjectChange{pod("a", 0.009), pod("b", 0)}, []string{"a 9ms", "b 9ms"}},
		{"in the order of the log", []*sources.ObjectChange{pod("a", 0.009), pod("b", 0.008)}, []string{"b 8ms", "a 9ms"}},
		{"but of one object's", []*sources.ObjectChange{pod("a1", 0.009), pod("a2", 0.008)}, []string{"a1 9ms", "a2 9ms"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var deliveries deliveries
			for _, change := range c.told {
				deliveries.Add(at(0), time.Millisecond, change)
			}
			var got []string
			for _, d := range deliveries {
				name := "node"
				if p, is := d.Change.Object.(*v1.Pod); is {
					name = p.Name
				}
				got = append(got, name+" "+d.At.Sub(at(0)).String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("it hears of %q, want %q", got, c.want)
			}
		})
	}
}
