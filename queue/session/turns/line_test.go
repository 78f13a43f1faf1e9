package turns_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/turns"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// calling is a scheduler of that version, and what its loop calls without waiting for it. It is told that first, for which it calls at 10 s, is bound at 11 s, and
// second, of 10.4 s, at 12 s.
type calling struct {
	*turns.Turns
	pods map[string]*v1.Pod
}

func newCalling(t *testing.T, version string) *calling {
	var w world.Cluster
	pods := map[string]*v1.Pod{}
	for _, name := range []string{"first", "second", "sooner", "other", "last", "gone"} {
		pods[name] = world.Wants(name, "1")
	}
	w.Bound(11, pods["first"], "node")
	w.Bound(11.8, pods["sooner"], "node")
	w.Bound(12, pods["second"], "node")
	w.Bound(19, pods["other"], "node")
	w.Bound(40, pods["last"], "node")
	world.Happens(&w, 10.8, sources.Deleted, pods["gone"], nil)
	slices.SortFunc(w.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	cfg := world.Config(t).ForVersion(version)
	future := evidence.New(evidence.Of(w.Events), time.Minute, time.Millisecond, rate.NewLimiter(rate.Inf, 0))
	c := &calling{&turns.Turns{Future: future, Channels: channels.New(cfg, true), Line: turns.NewLine(cfg), Patience: time.Minute}, pods}
	c.binds(10, "first")
	c.binds(10.4, "second")
	return c
}

func (c *calling) binds(at float64, pod string) { c.Called(world.At(at), c.pods[pod], true) }

func (c *calling) rejects(at float64, pod string) { c.Called(world.At(at), c.pods[pod], false) }

// TestBindingRefusedAt: the binding of a pod that is gone is refused where the line has its place, by those that show.
func TestBindingRefusedAt(t *testing.T) {
	for _, c := range []struct {
		name, version string
		calls         func(*calling)
		want          float64
	}{
		{"between two that show", "v1.34.1", func(c *calling) { c.binds(10.2, "gone") }, 11.5},
		{"behind the last that shows", "v1.34.1", func(c *calling) { c.binds(10.6, "gone") }, 12.2},
		{"in the place of what waits", "v1.34.1", func(c *calling) { c.rejects(10.1, "gone"); c.binds(10.3, "gone") }, 11.25},
		{"behind what is under way", "v1.34.1", func(c *calling) { c.rejects(10.1, "gone"); c.binds(11, "gone") }, 12.85},
		{"what waits is under way at once", "v1.35.0", func(c *calling) { c.rejects(10.1, "gone"); c.binds(10.3, "gone") }, 12.85},
		{"what waited was sent", "v1.34.1", func(c *calling) {
			c.rejects(10.1, "gone")
			c.Sent(world.At(10.15), "gone")
			c.binds(10.2, "gone")
		}, 11.5},
		{"what was under way was sent", "v1.35.0", func(c *calling) {
			c.rejects(10.1, "gone")
			c.binds(10.3, "gone")
			c.Sent(world.At(10.35), "gone")
		}, 11.875},
		{"what waited has had its turn, and did not show", "v1.34.1", func(c *calling) { c.rejects(10.1, "gone"); c.binds(11.6, "gone") }, 13.2},
		{"there is none before it that shows", "v1.34.1", func(c *calling) { c.rejects(9.9, "gone") }, 9.9},
		{"those before it showed long ago", "v1.34.1", func(c *calling) { c.rejects(10.1, "gone"); c.binds(31.5, "last") }, 10.1},
		{"the one before it showed not so long ago", "v1.34.1", func(c *calling) { c.rejects(10.5, "gone"); c.binds(31.5, "last") }, 12 + 0.1*28/21.1},
		{"the last that shows is sent before others, which were of another call", "v1.34.1", func(c *calling) { c.rejects(10.45, "gone"); c.binds(10.5, "sooner") }, 11.72},
		{"it waits for a volume, as well", "v1.34.1", func(c *calling) {
			c.pods["gone"].Spec.ResourceClaims = make([]v1.PodResourceClaim, 1)
			c.binds(10.2, "gone")
		}, math.NaN()},
		{"what waited was forgotten", "v1.34.1", func(c *calling) {
			c.rejects(10.1, "gone")
			c.Line.Forget(c.pods["gone"].UID)
			c.binds(10.2, "gone")
		}, 11.5},
		{"a log told of the loop when it was made", "v1.34.1", func(c *calling) {
			c.Channels.Verbosity = sources.AttemptsVerbosity
			c.binds(10.2, "gone")
			c.Channels.Verbosity = 0
		}, math.NaN()},
		{"a log told of the loop when what waited was sent", "v1.34.1", func(c *calling) {
			c.rejects(10.1, "gone")
			c.Channels.Verbosity = sources.AttemptsVerbosity
			c.Sent(world.At(10.15), "gone")
			c.Channels.Verbosity = 0
		}, 11.25},
		{"one that shows was tried before", "v1.34.1", func(c *calling) {
			c.pods["other"].Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse}}
			c.binds(10.5, "other")
			c.binds(10.6, "gone")
		}, 12.2},
		{"one that shows had a call that waited", "v1.34.1", func(c *calling) {
			c.rejects(10.1, "other")
			c.binds(10.5, "other")
			c.binds(10.6, "gone")
		}, 12.2},
	} {
		s := newCalling(t, c.version)
		c.calls(s)
		got := s.BindingRefusedAt(world.At(10.7), s.pods["gone"].UID)
		if at := got.Sub(world.At(0)).Seconds(); math.IsNaN(c.want) != got.IsZero() || math.Abs(at-c.want) > 1e-6 {
			t.Errorf("%s: it is refused at %v s, want %v", c.name, at, c.want)
		}
	}
}

// TestNoLine: where the loop waits for what it calls, or it is told what it does, a binding is refused when it was thought to be as it was made.
func TestNoLine(t *testing.T) {
	for _, c := range []struct {
		name, version string
		set           func(*calling)
		want          float64
	}{
		{"it waits", "v1.37.1", func(*calling) {}, 10.7},
		{"all requests are told", "v1.34.1", func(c *calling) { c.Channels.Exact = true }, 10.7},
		{"a log tells of the loop", "v1.34.1", func(c *calling) { c.Channels.Verbosity = sources.AttemptsVerbosity }, 10.7},
	} {
		s := newCalling(t, c.version)
		c.set(s)
		s.binds(10.2, "gone")
		if got := s.BindingRefusedAt(world.At(10.7), s.pods["gone"].UID); !got.Equal(world.At(c.want)) {
			t.Errorf("%s: it is refused at %v, want %v", c.name, got.Sub(world.At(0)), world.At(c.want).Sub(world.At(0)))
		}
	}
}
