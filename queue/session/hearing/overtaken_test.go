package hearing

import (
	"iter"
	"slices"
	"testing"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/lineup"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// line is a queue: "web" sleeps, its backoff over, "waits-for-it" likewise, and "gated" is gated; "first" and "second" back off.
type line map[string]queue.PodInfo

func (l line) Upcoming() iter.Seq[*v1.Pod] { return func(func(*v1.Pod) bool) {} }

func (l line) Get(_, name string) (queue.PodInfo, bool) {
	info, ok := l[name]
	return info, ok
}

// overtakes is a situation at 10, when the scheduler can have heard at the soonest that the pod "it" is gone.
type overtakes struct {
	world.Cluster
	line line
	h    Hearing
}

func newOvertakes(t *testing.T) *overtakes {
	o := &overtakes{line: line{}}
	o.h = Hearing{Channels: channels.New(world.Config(t), true), Scheduler: &judges{}}
	o.h.Channels.Until = world.At(100)
	for name, tier := range map[string]queue.Tier{"web": queue.Unschedulable, "waits-for-it": queue.Unschedulable, "gated": queue.Gated, "first": queue.Backoff, "second": queue.Backoff} {
		o.line[name] = queue.PodInfo{Pod: world.PendingPod(name, "1"), Tier: tier, BackoffExpiry: world.At(5)}
		if tier == queue.Backoff {
			o.line[name] = queue.PodInfo{Pod: world.PendingPod(name, "1"), Tier: tier, BackoffExpiry: world.At(15)}
		}
		o.h.Channels.Recorded(o.line[name].Pod.UID, sources.NewRecorded("1", 1))
	}
	o.h.Line = lineup.Lineup{Queue: o.line, TakesFrom: func(tier queue.Tier) bool { return tier == queue.Active || tier == queue.Backoff }}
	return o
}

// fails has an attempt of the pod be told to have failed.
func (o *overtakes) fails(seconds float64, pod string) {
	o.Add(seconds, &sources.FailedAttempt{Pod: world.Key(pod), UID: o.line[pod].Pod.UID, Message: without})
}

// places has the pod be bound by a request that the API server had at sent.
func (o *overtakes) places(sent, seconds float64, pod string) {
	bound := o.line[pod].Pod.DeepCopy()
	bound.Spec.NodeName = "node-a"
	o.Add(seconds, &sources.ObjectChange{Verb: sources.Updated, Object: bound, Sent: world.At(sent)})
}

// ends has another pod go that had a node.
func (o *overtakes) ends(seconds float64, pod string) {
	gone := world.PendingPod(pod, "1")
	gone.Spec.NodeName = "node-a"
	o.Add(seconds, &sources.ObjectChange{Verb: sources.Deleted, Object: gone})
}

// TestOvertaken: it was heard that a pod is gone after the last attempt that was made before the one of a pod which that wakes, though it
// was not that other pod's turn.
func TestOvertaken(t *testing.T) {
	for _, c := range []struct {
		name string
		of   func(o *overtakes)
		want float64 // 0: nothing tells
	}{
		{"nothing is told", func(*overtakes) {}, 0},
		{"no attempt is before", func(o *overtakes) { o.fails(10.01, "web"); o.fails(10.02, "first") }, 0},
		{"one is before", func(o *overtakes) { o.fails(10.01, "first"); o.fails(10.02, "web") }, 10.01},
		{"two are before", func(o *overtakes) { o.fails(10.01, "first"); o.fails(10.015, "second"); o.fails(10.02, "web") }, 10.015},
		{"of two that sleep, the later one tells more", func(o *overtakes) {
			o.fails(10.01, "first")
			o.fails(10.02, "web")
			o.fails(10.03, "second")
			o.fails(10.04, "waits-for-it")
		}, 10.03},
		{"no later than it could be heard of", func(o *overtakes) { o.fails(10, "first"); o.fails(10.02, "web") }, 0},
		{"so near that Events may be stamped the other way round", func(o *overtakes) { o.fails(10.0195, "first"); o.fails(10.02, "web") }, 0},
		{"of a pod that is taken first in any case", func(o *overtakes) {
			o.line["web"] = queue.PodInfo{Pod: o.line["web"].Pod, Tier: queue.Unschedulable, BackoffExpiry: world.At(20)}
			o.fails(10.01, "first")
			o.fails(10.02, "web")
		}, 0},
		{"of a pod that is awake", func(o *overtakes) { o.fails(10.01, "first"); o.fails(10.02, "second") }, 0},
		{"of a pod that is not known", func(o *overtakes) {
			o.fails(10.01, "first")
			o.Add(10.02, &sources.FailedAttempt{Pod: world.Key("web"), UID: "another", Message: without})
		}, 0},

		// What else can have woken it.
		{"something else can have woken it", func(o *overtakes) { o.fails(10.01, "first"); o.ends(10.015, "other"); o.fails(10.02, "web") }, 0},
		{"something else can have woken it, heard of before it was told", func(o *overtakes) { o.fails(10.01, "first"); o.fails(10.02, "web"); o.ends(10.0295, "other") }, 0},
		{"something else comes behind", func(o *overtakes) { o.fails(10.01, "first"); o.fails(10.02, "web"); o.ends(10.0305, "other") }, 10.01},
		{"something else can have woken it, and this does by the hints", func(o *overtakes) {
			o.fails(10.01, "first")
			o.ends(10.015, "other")
			o.fails(10.02, "waits-for-it")
		}, 10.01},
		{"a gated pod, by this alone", func(o *overtakes) { o.fails(10.01, "first"); o.fails(10.02, "gated") }, 10.01},

		// Attempts that place a pod.
		{"it is bound", func(o *overtakes) { o.fails(10.01, "first"); o.places(10.02, 10.03, "web") }, 10.01},
		{"it is bound, and an attempt was begun meanwhile", func(o *overtakes) { o.fails(10.016, "first"); o.places(10.02, 10.03, "web") }, 0},
		{"it is bound, and when that was sent is not known", func(o *overtakes) { o.fails(10.01, "first"); o.places(10.03, 10.03, "web") }, 0},
		{"it is bound where requests wait beside the loop", func(o *overtakes) {
			cfg := *o.h.Channels.Config
			cfg.AsyncAPICalls = true
			o.h.Channels.Config = &cfg
			o.fails(10.01, "first")
			o.places(10.02, 10.03, "web")
		}, 0},
		{"it is bound once it has its volumes", func(o *overtakes) {
			o.line["web"].Pod.Spec.Volumes = []v1.Volume{{VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
			o.fails(10.01, "first")
			o.places(10.02, 10.03, "web")
		}, 0},
		{"it is bound once it has its device", func(o *overtakes) {
			o.line["web"].Pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu"}}
			o.fails(10.01, "first")
			o.places(10.02, 10.03, "web")
		}, 0},

		// Attempts that need not show.
		{"an attempt before need not have shown", func(o *overtakes) {
			o.line["web"].Pod.ResourceVersion = "7"
			o.h.Channels.Recorded(o.line["web"].Pod.UID, sources.NewRecorded("7", 2))
			world.Reject(o.line["web"].Pod, without, "")
			o.fails(10.01, "first")
			o.fails(10.02, "web")
		}, 0},
		{"the loop waits for the answer to its patch", func(o *overtakes) {
			o.Add(10.005, &sources.StatusPatched{Pod: world.Key("web"), UID: o.line["web"].Pod.UID, Sent: world.At(10.002)})
			o.fails(10.01, "first")
			o.fails(10.02, "web")
		}, 0},
		{"more is told before than is looked at", func(o *overtakes) {
			for i := range mostTold {
				o.fails(10.01+0.0001*float64(i), "first")
			}
			o.fails(10.05, "web")
		}, 0},
		{"what is told ends before", func(o *overtakes) {
			o.h.Channels.Until = world.At(10.1)
			o.fails(10.01, "first")
			o.fails(10.02, "web")
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOvertakes(t)
			c.of(o)
			slices.SortStableFunc(o.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
			o.h.Future = evidence.New(evidence.Of(o.Events), time.Minute, time.Millisecond, rate.NewLimiter(rate.Inf, 0))
			it := world.PendingPod("it", "1")
			it.Spec.NodeName = "node-a"
			var want time.Time
			if c.want > 0 {
				want = world.At(c.want)
			}
			ended := it.DeepCopy()
			ended.Status.Phase = v1.PodFailed
			for _, change := range []*sources.ObjectChange{{Verb: sources.Deleted, Object: it}, {Verb: sources.Updated, Object: ended}} {
				if got := o.h.overtaken(world.At(10), change); !got.Equal(want) {
					t.Errorf("%s: the last attempt without it ended at %v, want %v", change.Verb, got, want)
				}
			}
		})
	}
}
