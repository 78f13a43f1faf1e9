package shadow

import (
	"math"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// nominal is what an attempt is said to take.
const nominal = time.Millisecond

// learns has a pace see so many failures in a row, each that long after the one before.
func learns(p *pace, from time.Time, failures int, each time.Duration) time.Time {
	for range failures {
		from = from.Add(each)
		p.SawFailure(from, nominal)
	}
	return from
}

// is checks how long the pace has an attempt take, to a hundredth.
func (p *pace) is(t *testing.T, when string, attempt time.Duration) {
	t.Helper()
	if got := p.Attempt(nominal); math.Abs(float64(got-attempt)) > float64(attempt)/100 {
		t.Errorf("%s an attempt takes %s, want %s", when, got, attempt)
	}
}

// TestPace: the pace is learned from the attempts that are visible, and one odd interval does not change it.
func TestPace(t *testing.T) {
	p := newPace()
	p.is(t, "at first", nominal)
	now := learns(p, time.Date(2026, 11, 21, 10, 0, 1, 0, time.UTC), 1, nominal/4)
	p.is(t, "after one failure", nominal)
	now = learns(p, now, recentOf, nominal/4)
	p.is(t, "after many", nominal/4)

	for range 3 { // pauses that are no attempts, but may be taken for some
		now = learns(p, now, 1, 3*nominal)
		now = learns(p, now, 10, nominal/4)
	}
	p.is(t, "after pauses", nominal/4)
	for range recentOf { // pauses that are too long for attempts
		now = learns(p, now, 1, time.Second)
	}
	p.is(t, "after long pauses", nominal/4)
	for range recentOf { // between them a pod is bound, or a patch answered
		p.SawOther()
		now = learns(p, now, 1, 2*nominal)
	}
	p.is(t, "after bindings", nominal/4)
	learns(p, now, recentOf, 4*nominal)
	p.is(t, "after it became slow", 4*nominal)
	if got := p.Longest().Round(time.Millisecond); got != 80*time.Millisecond {
		t.Errorf("the loop takes up to %s from one attempt to the next, want 80ms", got)
	}
}

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

// TestMissedTellsNoRate: what a list shows of requests, and Events that come with it, were made at any time since the watch ended. They
// tell neither that requests wait for each other, nor that Events do.
func TestMissedTellsNoRate(t *testing.T) {
	for _, watch := range []string{sources.PodsWatch, sources.EventsWatch, ""} {
		f := NewLiveFeed(world.Config(t))
		t.Cleanup(f.Close)
		s, missed := f.Shadow.oracle.channels, sources.Gap{Since: world.At(5), Until: world.At(20)}
		status := sources.Status{Resources: []sources.Resource{{Name: watch, Gap: missed}}}
		f.Arrive([]sources.Event{{Time: world.At(6), Fact: &sources.FailedAttempt{Pod: world.Key("web"), UID: "web"}}}, world.At(20.05), status)
		for range 200 {
			s.RecordRequest(world.At(20))
		}
		if got, want := s.Saturated(world.At(20)), watch == sources.EventsWatch; got != want {
			t.Errorf("%q was not heard: requests wait: %t", watch, got)
		}
		if got, want := s.Events.Backlogged(s.Until), watch == sources.PodsWatch; got != want {
			t.Errorf("%q was not heard: Events wait: %t", watch, got)
		}
	}
}
