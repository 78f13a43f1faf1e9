package model

import (
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestBeforePatched: when the loop has to begin to place a pod, and how long it takes for that at the most, where the pod is seen to be
// bound before the patch of the attempt is answered that fails next.
func TestBeforePatched(t *testing.T) {
	const never = -1
	for _, c := range []struct {
		name string
		set  func(*situation)
		last float64 // in ms from now
		most time.Duration
	}{
		{"web alone", func(s *situation) {
			s.failed(10.009, "db")
			s.bound(10.2, "web")
			s.patched(10.01, 10.3, "db")
		}, 7.7, 3 * time.Millisecond},
		{"one more is to be placed, one is being bound, and one is bound later", func(s *situation) {
			s.pod("other", queue.Active, 1)
			s.pod("api", queue.InFlight, 1)
			s.pod("late", queue.Active, 1)
			s.failed(10.009, "db")
			s.bound(10.2, "web")
			s.bound(10.21, "other")
			s.bound(10.22, "api")
			s.patched(10.01, 10.3, "db")
			s.bound(10.4, "late")
		}, 7.05, 2250 * time.Microsecond},
		{"what is told later was sent before the patch was answered", func(s *situation) {
			s.failed(10.009, "db")
			s.patched(10.01, 10.3, "db")
			s.sent(10.299, 10.31, "web")
		}, 7.7, 3 * time.Millisecond},
		{"it was sent later", func(s *situation) {
			s.failed(10.009, "db")
			s.patched(10.01, 10.3, "db")
			s.sent(10.301, 10.31, "web")
		}, never, LongestGap},
		{"no patch follows", func(s *situation) { s.failed(10.009, "db"); s.bound(10.2, "web") }, never, LongestGap},
		{"another fails before, without a patch", func(s *situation) {
			s.failed(10.008, "other")
			s.failed(10.009, "db")
			s.bound(10.2, "web")
			s.patched(10.01, 10.3, "db")
		}, never, LongestGap},
		{"the patch of the one that fails next is that of its next attempt, behind another's", func(s *situation) {
			s.failed(10.008, "db")
			s.failed(10.009, "other")
			s.patched(10.0095, 10.01, "other")
			s.bound(10.2, "web")
			s.failed(10.21, "db")
			s.patched(10.211, 10.3, "db")
		}, never, LongestGap},
		{"it fails much later", func(s *situation) {
			s.failed(10+2*crowding.Seconds(), "db")
			s.bound(10.2, "web")
			s.patched(10.2, 10.3, "db")
		}, never, LongestGap},
		{"it failed before", func(s *situation) {
			s.failed(9.999, "db")
			s.bound(10.2, "web")
			s.patched(10.2, 10.3, "db")
		}, never, LongestGap},
		{"the loop waits for no patch", func(s *situation) {
			s.channels.Config.AsyncAPICalls = true
			s.failed(10.009, "db")
			s.bound(10.2, "web")
			s.patched(10.01, 10.3, "db")
		}, never, LongestGap},
		{"a log tells each attempt", func(s *situation) {
			s.channels.Verbosity = 3
			s.failed(10.009, "db")
			s.bound(10.2, "web")
			s.patched(10.01, 10.3, "db")
		}, never, LongestGap},
		{"no requests are told", func(s *situation) {
			s.channels.Requests = false
			s.failed(10.009, "db")
			s.bound(10.2, "web")
			s.patched(10.01, 10.3, "db")
		}, never, LongestGap},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := decides(t, func(s *situation) {
				s.pod("web", queue.Active, 1)
				c.set(s)
			})
			now, web := world.At(10), world.PendingPod("web", "1")
			before := o.standstill().IsPlacedBefore(now, o.future.Attempt(web.UID, now, bindPatience))
			if before != (c.last != never) {
				t.Errorf("it is placed before: %t", before)
			}
			if before && o.standstill().LastToPlace(now) != world.At(10+c.last/1000) {
				t.Errorf("the loop has to begin after %s", o.standstill().LastToPlace(now).Sub(now))
			}
			if got := o.standstill().MostTime(now, web, LongestGap); got != c.most {
				t.Errorf("its attempt takes %s at the most, want %s", got, c.most)
			}
		})
	}
}

// TestPlacedOn: where an attempt that begins now is seen to place its pod, whatever room the model finds.
func TestPlacedOn(t *testing.T) {
	async := func(s *situation) { s.channels.Config.AsyncAPICalls = true }
	unbound := func(s *situation) {
		s.waiting(10)
		s.fact(10.19, &sources.Requested{})
		s.fact(10.2, &sources.Refused{Pod: world.Key("web"), UID: world.PendingPod("web", "1").UID, Sent: world.At(10.195), Binding: true, Node: "node"})
	}
	for _, c := range []struct {
		name string
		set  func(*situation)
		want string
	}{
		{"it is not seen to be bound", func(*situation) {}, ""},
		{"it is bound, and no attempt of another tells when it was placed", func(s *situation) { s.bound(10.2, "web") }, ""},
		{"it is bound before the next patch is answered, by a request that waited", func(s *situation) {
			s.waiting(10)
			s.failed(10.009, "db")
			s.fact(10.19, &sources.Requested{})
			s.bound(10.2, "web")
			s.waits(10.29, 10.3, "db")
		}, "node"},
		{"its request did not wait", func(s *situation) {
			s.failed(10.009, "db")
			s.bound(10.2, "web")
			s.patched(10.01, 10.3, "db")
		}, ""},
		{"it is bound behind that", func(s *situation) {
			s.waiting(10)
			s.failed(10.009, "db")
			s.waits(10.05, 10.1, "db")
			s.fact(10.19, &sources.Requested{})
			s.bound(10.2, "web")
		}, ""},
		{"it fails before it is bound", func(s *situation) {
			s.waiting(10)
			s.failed(10.009, "db")
			s.failed(10.15, "web")
			s.fact(10.19, &sources.Requested{})
			s.bound(10.2, "web")
			s.waits(10.29, 10.3, "db")
		}, ""},
		{"it is bound by a request that waited, and the loop waits for no patch", func(s *situation) {
			async(s)
			s.waiting(10)
			s.fact(10.19, &sources.Requested{})
			s.bound(10.2, "web")
		}, "node"},
		{"it is bound by a request that did not wait, and the loop waits for no patch", func(s *situation) { async(s); s.bound(10.2, "web") }, ""},
		{"it is gone before it is bound, by a request that waited", unbound, "node"},
		{"so it is, and the loop waits for no patch: it may be placed later", func(s *situation) { async(s); unbound(s) }, ""},
		{"no requests are told", func(s *situation) {
			async(s)
			s.channels.Requests = false
			s.waiting(10)
			s.fact(10.19, &sources.Requested{})
			s.bound(10.2, "web")
		}, ""},
	} {
		if got := decides(t, c.set).standstill().PlacedOn(world.At(10), world.PendingPod("web", "1")); got != c.want {
			t.Errorf("%s: it is placed on %q, want %q", c.name, got, c.want)
		}
	}
}
