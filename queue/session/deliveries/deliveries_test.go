package deliveries

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
			var deliveries Deliveries
			for _, change := range c.told {
				deliveries.Add(at(0), time.Millisecond, change, Attempts{})
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

// TestTried: a change that attempts precede is delivered when they are over, at its deadline at the latest, and no earlier than without
// them. Later changes wait with it.
func TestTried(t *testing.T) {
	noon := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }
	node := &sources.ObjectChange{Verb: sources.Added, Object: &v1.Node{}}
	for _, c := range []struct {
		name  string
		tried func(Deliveries)
		want  []int
		held  bool
	}{
		{"none is over", func(Deliveries) {}, []int{9, 9, 20}, true},
		{"one is over", func(d Deliveries) { d.Tried(at(4), "a") }, []int{9, 9, 20}, true},
		{"one is over twice", func(d Deliveries) { d.Tried(at(4), "a"); d.Tried(at(5), "a") }, []int{9, 9, 20}, true},
		{"another is", func(d Deliveries) { d.Tried(at(4), "c") }, []int{9, 9, 20}, true},
		{"both are", func(d Deliveries) { d.Tried(at(4), "a"); d.Tried(at(5), "b") }, []int{5, 5, 20}, false},
		{"both are, and one once more", func(d Deliveries) { d.Tried(at(4), "a"); d.Tried(at(5), "b"); d.Tried(at(6), "b") }, []int{5, 5, 20}, false},
		{"both are, before it would be delivered", func(d Deliveries) { d.Tried(at(0), "a"); d.Tried(at(0), "b") }, []int{1, 2, 20}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d Deliveries
			d.Add(at(0), time.Millisecond, node, Attempts{map[types.UID]struct{}{"a": {}, "b": {}}, at(9)})
			d.Add(at(1), time.Millisecond, node, Attempts{})
			d.Add(at(2), 18*time.Millisecond, node, Attempts{map[types.UID]struct{}{"d": {}}, at(3)})
			c.tried(d)
			for i, delivery := range d {
				if want := at(c.want[i]); !delivery.At.Equal(want) {
					t.Errorf("change %d is delivered at %v, want %v", i, delivery.At, want)
				}
			}
			if held := d[0].IsHeld(); held != c.held {
				t.Errorf("held: %t", held)
			}
		})
	}
}
