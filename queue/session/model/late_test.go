package model

import (
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestEventsWait: while Events come late, that none has come of a pod by now tells nothing.
func TestEventsWait(t *testing.T) {
	pod := world.PendingPod("web", "4")
	pod.ResourceVersion = "7"
	const untilNow = 10.5 // half a second ahead
	for _, c := range []struct {
		name       string
		came, made float64 // the last Event, and its attempt
		until      float64
		limited    bool
		tried      bool // before: no request need show its attempt
		want       reason.Silence
	}{
		{"Events come at once", 10.4, 10.38, untilNow, false, false, reason.Told},
		{"Events come late", 10.4, 9.9, untilNow, false, false, reason.Late},
		{"Events came late, and none is left", 9.4, 8.9, untilNow, false, false, reason.Told},
		{"Events come as late as they may without waiting", 10.25, 10, untilNow, false, false, reason.Told},
		{"Events came late, and the next would have come by now", 9.5, 9, untilNow, false, false, reason.Told},
		{"all have come", 10.4, 9.9, 100, false, false, reason.Told},
		{"the patches had to wait, too, and tell the order", 10.4, 9.9, untilNow, true, false, reason.Told},
		{"the patches had to wait, too, and only its Event would show", 10.4, 9.9, untilNow, true, true, reason.Late},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := pod.DeepCopy()
			if c.tried {
				world.Reject(pod, world.TooSmall, "")
			}
			s := channels.New(world.Config(t), true)
			s.Recorded(pod.UID, sources.NewRecorded("7", 1))
			s.Until = world.At(c.until)
			s.Events.Come(world.At(c.came), world.At(c.made))
			if c.limited {
				s.Attach(world.At(9), true)
			}
			if got := s.Silence(world.At(10), pod); got != c.want {
				t.Errorf("silence is %v, want %v", got, c.want)
			}
		})
	}
}

// TestEventsDropped: an Event that comes as late as a full queue of them takes tells that others were dropped. So that none has come of a
// pod tells nothing, unless a request shows its attempt.
func TestEventsDropped(t *testing.T) {
	for _, c := range []struct {
		name    string
		late    time.Duration
		qps     float32
		tried   bool // before: no request need show its attempt
		dropped bool
		want    reason.Silence
	}{
		{"in time", time.Second, 50, true, false, reason.Told},
		{"a thousandth before", 19980 * time.Millisecond, 50, true, false, reason.Told},
		{"behind a thousand others", 20 * time.Second, 50, true, true, reason.Late},
		{"behind a thousand others, and a request would show", 20 * time.Second, 50, false, true, reason.Told},
		{"of a client that may send more", 20 * time.Second, 100, true, true, reason.Late},
		{"of a client that may send less", 20 * time.Second, 25, true, false, reason.Told},
		{"of a client without a limit", time.Hour, -1, true, false, reason.Told},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := world.PendingPod("web", "4")
			if pod.ResourceVersion = "7"; c.tried {
				world.Reject(pod, world.TooSmall, "")
			}
			cfg := world.Config(t)
			cfg.ClientQPS = c.qps
			s := channels.New(cfg, true)
			s.Recorded(pod.UID, sources.NewRecorded("7", 1))
			s.Until = world.At(100)
			came := func(late time.Duration) bool {
				return s.Came(world.At(10), &sources.FailedAttempt{Heard: world.At(10).Add(late)})
			}
			if got := came(c.late); got != c.dropped {
				t.Errorf("others were dropped: %v, want %v", got, c.dropped)
			}
			if got := s.Silence(world.At(10), pod); got != c.want {
				t.Errorf("silence is %v, want %v", got, c.want)
			}
			if came(0); s.Silence(world.At(10), pod) != reason.Told {
				t.Error("silence does not tell once an Event comes in time")
			}
			s.Events.Come(world.At(10).Add(c.late), world.At(10)) // as a live source says it
			if got := s.Came(world.At(10), &sources.FailedAttempt{}); got != c.dropped {
				t.Errorf("of a live source, others were dropped: %v, want %v", got, c.dropped)
			}
		})
	}
}

// TestLateAttempt: an Event that comes seconds after its attempt shows no other one, unless the model has had none by then.
func TestLateAttempt(t *testing.T) {
	for _, c := range []struct {
		name  string
		makes float64 // when the attempt was that is told at 20
		want  []string
	}{
		{"the model has had it", 2.003, nil},
		{"it has had none since", 12, []string{"inflight", "unschedulable"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var cluster world.Cluster
			world.Change(&cluster, 1, sources.Added, world.Node("node-a", "2"), nil)
			cluster.Add(1.5, &sources.Attached{Nodes: true})
			cluster.AddStuck(2, "web")
			f := NewLiveFeed(world.Config(t))
			t.Cleanup(f.Close)
			f.Arrive(cluster.Recording(3).Events, world.At(3), sources.Status{})
			f.Arrive(nil, world.At(5), sources.Status{}) // no Event waits any more
			before := 0
			for ; f.HasEvent(before); before++ {
			}
			f.Arrive([]sources.Event{{Time: world.At(c.makes), Fact: &sources.FailedAttempt{Pod: world.Key("web"), UID: "web", Message: world.TooSmall, Recorded: sources.NewRecorded("2", 1)}}}, world.At(20), sources.Status{})
			f.Arrive(nil, world.At(21.5), sources.Status{}) // no Event waits any more
			for i := before; f.HasEvent(i); i++ {
			}
			var moves []string
			for _, ev := range f.Events[before:] {
				if m, ok := ev.Fact.(*Move); ok {
					moves = append(moves, string(m.To))
				}
			}
			if !slices.Equal(moves, c.want) {
				t.Errorf("it moves %v, want %v", moves, c.want)
			}
		})
	}
}

// TestPatchOutlasts: where requests wait for the rate limit, the patch of an attempt comes behind all that is told, if none is seen: the loop
// waits for it, whether or not requests are told.
func TestPatchOutlasts(t *testing.T) {
	for _, c := range []struct {
		name   string
		loaded bool
		want   float64
	}{{"requests wait", true, 10.5}, {"they do not", false, 10}} {
		t.Run(c.name, func(t *testing.T) {
			o := decides(t, func(s *situation) {
				s.channels.Until = world.At(10.5)
				if c.loaded {
					s.load(10)
				}
			})
			if got := o.patchedAt(world.At(10), "web", "", world.At(11)); !got.Equal(world.At(c.want)) {
				t.Errorf("it is answered at %v, want %v", got, world.At(c.want))
			}
		})
	}
}

// TestPatchOfAnAttemptToCome: while the loop waits for the answer to a patch it places no pod. So where requests wait, a patch that is sent
// behind the binding of a pod that has yet to come or to be woken is not that of the attempt that ends now.
func TestPatchOfAnAttemptToCome(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*situation)
		want float64
	}{
		{"no other is placed before", func(*situation) {}, 11.01},
		{"one is placed that is asleep", func(s *situation) { s.pod("other", queue.Unschedulable, 1); s.bound(10.5, "other") }, 10},
		{"one is placed that has yet to come", func(s *situation) { s.bound(10.5, "other") }, 10},
		{"one is placed that the loop can take", func(s *situation) { s.pod("other", queue.Active, 1); s.bound(10.5, "other") }, 11.01},
		{"one is bound that was placed", func(s *situation) { s.pod("other", queue.InFlight, 1); s.bound(10.5, "other") }, 11.01},
		{"the binding of one fails that is asleep", func(s *situation) {
			s.pod("other", queue.Unschedulable, 1)
			s.fact(10.5, &sources.FailedAttempt{Pod: world.Key("other"), UID: "other", Message: `running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded`})
		}, 11.01},
		{"one is placed that is asleep, and the loop does not wait", func(s *situation) {
			s.channels.Config.AsyncAPICalls = true
			s.pod("other", queue.Unschedulable, 1)
			s.bound(10.5, "other")
		}, 11.01},
		{"one is placed that is asleep, and all requests are told", func(s *situation) {
			s.channels.Exact = true
			s.pod("other", queue.Unschedulable, 1)
			s.bound(10.5, "other")
		}, 11.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := decides(t, func(s *situation) {
				s.load(10)
				c.set(s)
				s.patched(11, 11.01, "web")
			})
			if got := o.patchedAt(world.At(10), "web", "", world.At(12)); !got.Equal(world.At(c.want)) {
				t.Errorf("it is answered at %v, want %v", got, world.At(c.want))
			}
		})
	}
}

// TestPatchOfTold: where an attempt is told to have failed, and its patch wrote what it came to, the loop waited for that, however much later
// it was sent. Unless another one is told to have failed in the meantime, or a pod was placed.
func TestPatchOfTold(t *testing.T) {
	const why = world.TooSmall
	for _, c := range []struct {
		name string
		why  string
		set  func(*situation)
		want float64
	}{
		{"it is the only one", why, func(*situation) {}, 10.7},
		{"it was not told", "", func(*situation) {}, 10},
		{"it came to something else", "0/2 nodes are available: 2 Insufficient cpu.", func(*situation) {}, 10},
		{"another fails in between", why, func(s *situation) { s.failed(10.3, "other") }, 10},
		{"another fails behind it", why, func(s *situation) { s.failed(10.71, "other") }, 10.7},
		{"another is placed in between, and was asleep", why, func(s *situation) { s.pod("other", queue.Unschedulable, 1); s.bound(10.5, "other") }, 10},
		{"another had been placed", why, func(s *situation) { s.pod("other", queue.InFlight, 1); s.bound(10.5, "other") }, 10.7},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := decides(t, func(s *situation) {
				c.set(s)
				s.wrote(10.7, "web", world.TooSmall)
			})
			if got := o.patchedAt(world.At(10), "web", c.why, world.At(12)); !got.Equal(world.At(c.want)) {
				t.Errorf("it is answered at %v, want %v", got, world.At(c.want))
			}
		})
	}
}

// TestRefusedUnseen: a watch does not tell that a patch was refused, as its pod had gone. It was sent behind the bindings that waited for the
// rate limit, as it did, at 50 a second.
func TestRefusedUnseen(t *testing.T) {
	gone := func(s *situation) { s.changed(10.01, sources.Deleted, world.PendingPod("web", "1")) }
	for _, c := range []struct {
		name string
		set  func(*situation)
		want float64
	}{
		{"it is the next request", gone, 10.02},
		{"the pod goes on", func(*situation) {}, 10},
		{"it goes after its patch was sent", func(s *situation) { s.changed(10.03, sources.Deleted, world.PendingPod("web", "1")) }, 10},
		{"two were placed before, which are bound", func(s *situation) { gone(s); s.places("a", "b"); s.bound(10.3, "a"); s.bound(10.32, "b") }, 10.34},
		{"it goes just before they are", func(s *situation) {
			s.changed(10.33, sources.Deleted, world.PendingPod("web", "1"))
			s.places("a", "b")
			s.bound(10.3, "a")
			s.bound(10.32, "b")
		}, 10.34},
		{"two were placed before, and are gone, too", func(s *situation) {
			gone(s)
			s.places("a", "b")
			s.inLine(2)
		}, 10.06},
		{"one waits for its volume", func(s *situation) {
			gone(s)
			s.places("a")
			s.placed[0].Pod.Spec.ResourceClaims = make([]v1.PodResourceClaim, 1)
		}, 10.02},
		{"the loop does not wait for patches", func(s *situation) { gone(s); s.channels.Config.AsyncAPICalls = true }, 10},
		{"what is refused is told", func(s *situation) { gone(s); s.channels.Exact = true }, 10},
		{"a log tells when attempts end", func(s *situation) { gone(s); s.channels.Verbosity = sources.AttemptsVerbosity }, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := decides(t, func(s *situation) { s.load(10); c.set(s) })
			if got := o.patchedAt(world.At(10), "web", "", world.At(12)); !got.Equal(world.At(c.want)) {
				t.Errorf("it is answered at %v, want %v", got, world.At(c.want))
			}
		})
	}
	o := decides(t, gone)
	if got := o.patchedAt(world.At(10), "web", "", world.At(12)); !got.Equal(world.At(10)) {
		t.Errorf("where no request waits, it is answered at %v", got)
	}
}
