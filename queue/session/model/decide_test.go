package model

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/lineup"
	"github.com/schedq/schedq/queue/session/pace"
	"github.com/schedq/schedq/queue/session/prebind"
	"github.com/schedq/schedq/queue/session/presence"
	"github.com/schedq/schedq/queue/session/tried"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// line is a queue in which the loop takes pods from activeQ alone, in this order.
type line []queue.PodInfo

func (l line) Upcoming() iter.Seq[*v1.Pod] {
	return func(yield func(*v1.Pod) bool) {
		for _, info := range l {
			if info.Tier == queue.Active && !yield(info.Pod) {
				return
			}
		}
	}
}

func (l line) Get(_, name string) (queue.PodInfo, bool) {
	i := slices.IndexFunc(l, func(info queue.PodInfo) bool { return info.Pod.Name == name })
	if i < 0 {
		return queue.PodInfo{}, false
	}
	return l[i], true
}

// situation is one in which the loop decides, 10 s after the start.
type situation struct {
	*oracle
	line    line
	hasNode func(types.NamespacedName) bool
	placed  []*binding
	events  []sources.Event
	t       *testing.T
}

// pod puts a pod at the end of the line of which attempts have failed. Its next one must show.
func (s *situation) pod(name string, tier queue.Tier, attempts int, edit ...func(*v1.Pod)) *v1.Pod {
	pod := world.PendingPod(name, "1")
	for _, e := range edit {
		e(pod)
	}
	s.line = append(s.line, queue.PodInfo{Pod: pod, Tier: tier, Attempts: attempts})
	s.channels.Recorded(pod.UID, sources.Recorded{})
	return pod
}

// free is a pod whose attempts are only counted: they need not show.
func (s *situation) free(name string) {
	pod := s.pod(name, queue.Active, 1)
	world.Reject(pod, world.TooSmall, "")
	s.channels.Recorded(pod.UID, sources.NewRecorded("7", 3))
	pod.ResourceVersion = "7"
}

// updated is a pod of which the scheduler is taken to have heard so long ago that it has a new version. Of the one before, so many
// failures were recorded.
func (s *situation) updated(name string, count int, ago time.Duration) {
	pod := s.pod(name, queue.Active, count)
	world.Reject(pod, world.TooSmall, "")
	s.channels.Recorded(pod.UID, sources.NewRecorded("7", count))
	pod.ResourceVersion = "8"
	s.channels.Updated(world.At(10).Add(-ago), pod.UID)
}

// places has pods placed just now, whose bindings are under way.
func (s *situation) places(names ...string) {
	for _, name := range names {
		s.placed = append(s.placed, &binding{Binding: &cycle.Binding{Pod: s.pod(name, queue.InFlight, 1)}})
	}
}

// wrote is a patch by which why an attempt failed is written into its pod's condition.
func (s *situation) wrote(seconds float64, name, why string) {
	pod := world.PendingPod(name, "1")
	world.Reject(pod, why, "")
	s.changed(seconds, sources.Updated, pod)
	s.fact(seconds, &sources.StatusPatched{Pod: world.Key(name), UID: types.UID(name)})
}

// binding is a pod that is placed, and waits for its volume.
func (s *situation) binding(name string) {
	pod := s.pod(name, queue.InFlight, 1)
	s.preBind.AwaitsVolume = func(p *v1.Pod) bool { return p == pod }
}

func (s *situation) fact(seconds float64, f sources.Fact) {
	s.events = append(s.events, sources.Event{Time: world.At(seconds), Fact: f})
}

func (s *situation) failed(seconds float64, name string) {
	s.fact(seconds, &sources.FailedAttempt{Pod: world.Key(name), UID: types.UID(name)})
}

func (s *situation) patched(sent, answered float64, name string) {
	s.fact(answered, &sources.StatusPatched{Pod: world.Key(name), UID: types.UID(name), Sent: world.At(sent)})
}

// waiting has the scheduler's client make more requests than its rate limit lets through for a second, so that those that
// follow have waited.
func (s *situation) waiting(seconds float64) {
	s.channels.Exact = true
	for range s.channels.Config.ClientBurst + 50 {
		s.fact(seconds, &sources.Requested{})
	}
}

// waits is a patch that was sent at that moment, after it had waited for the rate limit.
func (s *situation) waits(sent, answered float64, name string) {
	s.fact(sent, &sources.Requested{})
	s.patched(sent, answered, name)
}

// boundAfterWaiting is a pod that a log of all attempts' ends tells to be bound next, by a request that had waited for the rate limit.
func (s *situation) boundAfterWaiting(seconds float64, name string) {
	s.channels.Verbosity = sources.AttemptsVerbosity
	s.pod(name, queue.Active, 1)
	s.waiting(10)
	s.fact(seconds-0.004, &sources.Requested{})
	s.bound(seconds, name)
}

func (s *situation) changed(seconds float64, verb sources.Verb, obj runtime.Object) {
	s.fact(seconds, &sources.ObjectChange{Verb: verb, Object: obj})
}

func (s *situation) bound(seconds float64, name string) {
	pod := world.PendingPod(name, "1")
	pod.Spec.NodeName = "node"
	s.changed(seconds, sources.Updated, pod)
}

// sent is a pod that is bound by a request which the API server had at the first of these moments.
func (s *situation) sent(sent, seconds float64, name string) {
	s.bound(seconds, name)
	s.events[len(s.events)-1].Fact.(*sources.ObjectChange).Sent = world.At(sent)
}

// slow has attempts take 8 ms.
func (s *situation) slow() {
	for i := range 200 {
		s.pace.SawFailure(pace.Failure{At: world.At(5 + 0.008*float64(i)), Nominal: time.Millisecond})
	}
}

// failEvery has attempts of a pod that the model does not have fail for half a second, so many seconds after each other.
func (s *situation) failEvery(seconds float64) {
	for at := 10.05; at < 10.5; at += seconds {
		s.failed(at, "other")
	}
}

// unheard has a watch hear nothing from a moment on that is just before now.
func (s *situation) unheard(resource string) {
	s.channels.Gaps.Note(world.At(10), sources.Status{Resources: []sources.Resource{{Name: resource, Unheard: sources.Gap{Since: world.At(9.999)}}}})
}

// load has the scheduler's client use up its rate limit.
func (s *situation) load(seconds float64) {
	for range s.channels.Config.ClientBurst {
		s.channels.Requested(world.At(seconds))
	}
}

// inLine has so many requests that nothing tells of wait for that.
func (s *situation) inLine(requests int) {
	s.load(10)
	for range requests {
		s.channels.Wait(world.At(10), s.channels.Turn(world.At(10), time.Time{}))
	}
}

// decides sets a situation up and returns what is asked of it.
func decides(t *testing.T, set func(*situation)) *oracle {
	t.Helper()
	s := &situation{t: t, oracle: &oracle{channels: channels.New(world.Config(t), true), presence: presence.New(world.Config(t), func(time.Time, *sources.Silent) {}), pace: pace.New(answerDelay),
		preBind: prebind.Waits{Patience: writePatience, AwaitsVolume: func(*v1.Pod) bool { return false }, UnreadyClaim: func(*v1.Pod) *resourcev1.ResourceClaim { return nil },
			Claimed: func(*v1.Pod) bool { return false }}}, hasNode: func(types.NamespacedName) bool { return false }}
	s.channels.Recorded("another", sources.NewRecorded("1", 1)) // so the source tells what the recorder wrote
	s.channels.Until = world.At(100)
	s.seesNodes = func() bool { return true }
	s.nodes = func() int { return 0 }
	s.wakeComing = func() bool { return false }
	s.beingBound = func(yield func(*v1.Pod) bool) { (&Driver{Bindings: s.placed}).eachBinding(yield) }
	set(s)
	slices.SortStableFunc(s.events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	s.queue = lineup.Lineup{Queue: s.line, TakesFrom: func(tier queue.Tier) bool { return tier == queue.Active }, HasNode: s.hasNode}
	s.future = evidence.New(evidence.Of(s.events), bindPatience, shortestRequest, s.channels.Config.ClientLimiter(1))
	s.preBind.Future = s.future
	return s.oracle
}

func (d decision) String() string {
	switch d.do {
	case takePod:
		return "take " + d.pod.Name
	case putBack:
		return "put back " + d.pod.Name
	case wait:
		said := fmt.Sprintf("wait %.4f", d.until.Sub(world.At(10)).Seconds())
		if d.endsOnMove {
			said += " or a move"
		}
		return said
	}
	return "take the next"
}

// allocated is a claim that has a device for a pod which is not ready.
func allocated(pod types.UID) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{}
	c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{UID: pod}}
	c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
		{Device: "gpu", BindingConditions: []string{"attached"}}}}}
	return c
}

func claims(p *v1.Pod) { p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu"}} }

// TestDecide: what the loop does, rule by rule.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*situation)
		want string
	}{
		{"nothing is there", func(s *situation) {}, "take the next"},
		{"nothing is known of the recorder", func(s *situation) {
			s.pod("web", queue.Active, 1, func(p *v1.Pod) { world.Reject(p, world.TooSmall, "") })
			s.channels.Records = false
		}, "take the next"},

		// A first attempt always shows.
		{"nothing is known of the recorder, and it is the pod's first", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.channels.Records = false
		}, "wait 0.4000 or a move"},
		{"nothing is known of the recorder or of requests", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.channels.Records, s.channels.Requests = false, false
		}, "take the next"},

		// No scheduler is there.
		{"nobody renews the lease", func(s *situation) { s.free("web"); s.presence.Lapsed = true }, "wait 86400.0000"},
		{"nothing is heard of its only profile", func(s *situation) {
			s.free("web")
			s.presence.Silent[v1.DefaultSchedulerName] = true
		}, "wait 86400.0000"},
		{"nothing is heard of one profile of two", func(s *situation) {
			s.pod("web", queue.Active, 0, func(p *v1.Pod) { p.Spec.SchedulerName = "batch" })
			s.free("db")
			s.presence.Profiles, s.presence.Silent["batch"] = 2, true
		}, "take db"},
		{"nothing is heard of one profile of two, and no pod of the other waits", func(s *situation) {
			s.pod("web", queue.Active, 0, func(p *v1.Pod) { p.Spec.SchedulerName = "batch" })
			s.presence.Profiles, s.presence.Silent["batch"] = 2, true
		}, "wait 86400.0000 or a move"},

		// A patch is under way.
		{"a patch was sent", func(s *situation) { s.free("web"); s.patched(9.999, 10.005, "db") }, "wait 0.0054"},
		{"a patch was sent, for which the loop does not wait", func(s *situation) {
			s.channels.Config.AsyncAPICalls = true
			s.free("web")
			s.patched(9.999, 10.005, "db")
		}, "take the next"},
		{"a patch waits to be sent, after a failure that was seen", func(s *situation) {
			s.load(10)
			s.free("web")
			s.failed(9.99, "db")
			s.patched(10.3, 10.305, "db")
		}, "wait 0.3054"},
		{"a patch is sent later, and requests do not wait", func(s *situation) {
			s.free("web")
			s.failed(9.99, "db")
			s.patched(10.3, 10.305, "db")
		}, "take the next"},
		{"two were sent, and the later one is answered first", func(s *situation) {
			s.patched(9.998, 10.005, "db")
			s.patched(9.997, 10.009, "web")
		}, "wait 0.0054"},
		{"a patch is sent at once, and the attempt is over", func(s *situation) {
			s.patched(10.003, 10.008, "db")
			s.tried.Note("db", tried.Attempt{At: world.At(9.999)})
		}, "wait 0.0084"},
		{"an attempt is seen to fail at once, and others in their turn need not show: they are before it", func(s *situation) {
			s.free("web")
			s.pod("db", queue.Active, 1)
			s.failed(10.0005, "db")
		}, "take the next"},
		{"the same, and there is no time for the others", func(s *situation) {
			s.free("web")
			s.pod("db", queue.Active, 1)
			s.failed(10.00005, "db")
		}, "take db"},
		{"a patch is sent soon after an attempt that would write none, of a pod that was woken since: it is of the next attempt", func(s *situation) {
			s.free("web")
			s.free("db")
			s.patched(10.007, 10.012, "db")
			s.tried.Note("db", tried.Attempt{At: world.At(9.998), Silent: true})
		}, fmt.Sprintf("wait %.4f", (7*time.Millisecond - soon).Seconds())},
		{"the same, and it is that pod's turn: it may be tried twice until then", func(s *situation) {
			s.free("db")
			s.patched(10.007, 10.012, "db")
			s.tried.Note("db", tried.Attempt{At: world.At(9.998), Silent: true})
		}, "take the next"},
		{"the same, and it fails now", func(s *situation) {
			s.free("db")
			s.patched(10+soon.Seconds(), 10.006, "db")
			s.tried.Note("db", tried.Attempt{At: world.At(9.998), Silent: true})
		}, "take db"},
		{"the same, of a pod that sleeps: the model was too fast", func(s *situation) {
			s.free("web")
			s.pod("db", queue.Unschedulable, 1)
			s.patched(10.007, 10.012, "db")
			s.tried.Note("db", tried.Attempt{At: world.At(9.998), Silent: true})
		}, "wait 0.0124"},
		{"the same, of a patch that was sent before", func(s *situation) {
			s.free("db")
			s.patched(9.999, 10.004, "db")
			s.tried.Note("db", tried.Attempt{At: world.At(9.998), Silent: true})
		}, "wait 0.0044"},
		{"a patch is sent at once, and another attempt was seen to end since", func(s *situation) {
			s.free("web")
			s.patched(10.003, 10.008, "db")
			s.tried.Note("db", tried.Attempt{At: world.At(9.998)})
			s.tried.Ended = world.At(9.999)
		}, "take the next"},
		{"a patch is sent at once, and the attempt is not over", func(s *situation) { s.free("web"); s.patched(10.003, 10.008, "db") }, "take the next"},
		{"a patch is sent at once, and the attempt is over for too long", func(s *situation) {
			s.free("web")
			s.patched(10.003, 10.008, "db")
			s.tried.Note("db", tried.Attempt{At: world.At(10).Add(-channels.AttemptSlack)})
		}, "take the next"},
		{"a patch is answered after longer than requests take", func(s *situation) { s.free("web"); s.patched(9.9, 12.1, "db") }, "take the next"},

		// The patch is of a pod that is being bound: beside the loop.
		{"a patch was sent of a pod whose binding failed", func(s *situation) {
			s.free("web")
			s.binding("db")
			s.patched(9.999, 10.005, "db")
		}, "take the next"},
		{"a patch is sent of a pod whose binding will fail, where requests wait", func(s *situation) {
			s.load(10)
			s.free("web")
			s.binding("db")
			s.patched(10.03, 10.035, "db")
		}, "take the next"},
		{"the next patch that waits is of a pod whose binding failed, and the second is that of an attempt", func(s *situation) {
			s.free("web")
			s.binding("db")
			s.free("api")
			s.waiting(9.7)
			s.waits(10.0005, 10.004, "db")
			s.waits(10.001, 10.005, "api")
		}, "take api"},
		{"a patch was sent of a pod that the model binds, and no binding of it is seen", func(s *situation) {
			s.free("web")
			s.pod("db", queue.InFlight, 1)
			s.patched(9.999, 10.005, "db")
		}, "wait 0.0054"},

		// A patch is sent later, whose request waits its turn.
		{"a patch waits, and nothing is bound before it: its attempt is the next", func(s *situation) {
			s.free("web")
			s.free("db")
			s.waiting(9.7)
			s.waits(10.001, 10.005, "db")
		}, "take db"},
		{"a patch waits that is sent later: until then others have their turn", func(s *situation) {
			s.free("web")
			s.free("db")
			s.waiting(10)
			s.waits(10.3, 10.305, "db")
		}, "take the next"},
		{"a patch does not wait, and is sent later", func(s *situation) {
			s.free("web")
			s.free("db")
			s.patched(10.3, 10.305, "db")
		}, "take the next"},
		{"a patch waits, and a pod is bound before it", func(s *situation) {
			s.free("web")
			s.free("db")
			s.waiting(10)
			s.bound(10.2, "web")
			s.waits(10.3, 10.305, "db")
		}, "take the next"},
		{"a patch waits for a moment, and a pod is bound before it", func(s *situation) {
			s.free("web")
			s.free("db")
			s.waiting(10)
			s.load(10)
			s.bound(10.01, "web")
			s.waits(10.03, 10.035, "db")
		}, "take the next"},
		{"a pod fails now whose patch waits", func(s *situation) {
			s.free("web")
			s.free("db")
			s.waiting(10)
			s.failed(10.0001, "db")
			s.waits(10.3, 10.305, "db")
		}, "take db"},
		{"a pod fails now, and another is bound before its patch is answered: it was placed before", func(s *situation) {
			s.free("api")
			s.free("web")
			s.free("db")
			s.failed(10.001, "db")
			s.bound(10.05, "web")
			s.patched(10.002, 10.1, "db")
		}, "take web"},
		{"a pod fails soon, and another is bound before its patch is answered: until then pods have their turn", func(s *situation) {
			s.free("api")
			s.free("web")
			s.free("db")
			s.failed(10.01, "db")
			s.bound(10.05, "web")
			s.patched(10.011, 10.1, "db")
		}, "take the next"},
		{"a pod fails now, and another is bound behind its patch", func(s *situation) {
			s.free("web")
			s.free("db")
			s.failed(10.001, "db")
			s.patched(10.002, 10.005, "db")
			s.bound(10.05, "web")
		}, "take db"},
		{"a pod fails now, and another is bound before its patch is answered that the loop can't take", func(s *situation) {
			s.pod("web", queue.Unschedulable, 1)
			s.free("db")
			s.failed(10.001, "db")
			s.bound(10.05, "web")
			s.patched(10.002, 10.1, "db")
		}, "take db"},
		{"a pod fails now and again later, whose patch waits that follows the later one", func(s *situation) {
			s.free("web")
			s.free("db")
			s.waiting(10)
			s.failed(10.0001, "db")
			s.failed(10.1, "db")
			s.bound(10.2, "web")
			s.waits(10.3, 10.305, "db")
		}, "take db"},
		{"a patch waits, and a pod is bound before it that has yet to come", func(s *situation) {
			s.free("web")
			s.free("db")
			s.waiting(10)
			s.bound(10.2, "new")
			s.waits(10.3, 10.305, "db")
		}, "take the next"},
		{"a patch waits, and a pod changes before it that has its node: it was placed long ago", func(s *situation) {
			s.free("web")
			s.free("db")
			s.hasNode = func(name types.NamespacedName) bool { return name == world.Key("old") }
			s.waiting(9.7)
			s.bound(10.0005, "old")
			s.waits(10.001, 10.005, "db")
		}, "take db"},
		{"a patch waits for a moment, and its pod is not the next: those before it have their turn", func(s *situation) {
			s.free("web")
			s.free("db")
			s.waiting(10)
			s.load(10)
			s.waits(10.03, 10.035, "db")
		}, "take the next"},
		{"a patch waits for a moment, and its pod is the next", func(s *situation) {
			s.free("db")
			s.free("web")
			s.waiting(10)
			s.load(10)
			s.waits(10.03, 10.035, "db")
		}, "take db"},
		{"a patch waits for a moment, and its pod can't be taken: the loop waits for it", func(s *situation) {
			s.free("web")
			s.pod("db", queue.Unschedulable, 1)
			s.waiting(10)
			s.load(10)
			s.waits(10.03, 10.035, "db")
		}, "wait 0.0300"},
		{"a patch waits, and a pod is bound after it", func(s *situation) {
			s.free("web")
			s.free("db")
			s.waiting(9.7)
			s.waits(10.001, 10.005, "db")
			s.bound(10.4, "web")
		}, "take db"},
		{"a patch waits, and the scheduler's log tells when attempts end", func(s *situation) {
			s.channels.Verbosity = sources.AttemptsVerbosity
			s.pod("web", queue.Active, 0)
			s.free("db")
			s.waiting(10)
			s.waits(10.3, 10.305, "db")
		}, "wait 0.2987 or a move"},
		{"a patch waits, and the loop does not wait for it", func(s *situation) {
			s.channels.Config.AsyncAPICalls = true
			s.free("web")
			s.free("db")
			s.waiting(10)
			s.waits(10.3, 10.305, "db")
		}, "take the next"},

		// The scheduler's log tells when attempts begin.
		{"a pod is seen to fail, and its attempt begins a little later", func(s *situation) {
			s.channels.Verbosity = 3
			s.pod("web", queue.Active, 0)
			s.fact(10.001, &sources.FailedAttempt{Pod: world.Key("web"), UID: "web", Log: true, Began: world.At(10.0005)})
		}, "wait 0.0005 or a move"},
		{"a pod is bound much later, whose attempt begins soon", func(s *situation) {
			s.channels.Verbosity = 3
			s.pod("web", queue.Active, 0)
			s.fact(10.2, &sources.Bound{Pod: world.Key("web"), UID: "web", Node: "node", Began: world.At(10.01)})
			s.bound(10.2, "web")
		}, "wait 0.0100 or a move"},
		{"a pod is bound, and its request had waited: it may have been placed at any time", func(s *situation) {
			s.channels.Verbosity = sources.AttemptsVerbosity
			s.pod("web", queue.Active, 0)
			s.waiting(10)
			s.fact(10.2, &sources.Requested{})
			s.bound(10.2, "web")
		}, "take the next"},

		{"a pod is bound, and the loop does not wait for requests: it may have been placed at any time", func(s *situation) {
			s.channels.Config.AsyncAPICalls = true
			s.pod("web", queue.Active, 1)
			s.sent(10.2, 10.205, "web")
		}, "take the next"},

		// It tells how each attempt ends, so that of a pod which is bound next the next attempt is the one that places it.
		{"a pod is bound in a second, whose request had waited", func(s *situation) { s.boundAfterWaiting(10.9, "web") }, "take the next"},
		{"it had not waited: it was placed later", func(s *situation) {
			s.channels.Verbosity = sources.AttemptsVerbosity
			s.pod("web", queue.Active, 1)
			s.bound(10.9, "web")
		}, "put back web"},
		{"another fails in the meantime, whose patch waited and was sent before", func(s *situation) {
			s.boundAfterWaiting(10.9, "web")
			s.failed(10.6, "db")
			s.waits(10.7, 10.705, "db")
		}, "wait 0.6000 or a move"},
		{"another fails in the meantime, whose patch waited and was sent behind it", func(s *situation) {
			s.boundAfterWaiting(10.9, "web")
			s.failed(10.6, "db")
			s.waits(10.95, 10.955, "db")
		}, "take the next"},
		{"another fails in the meantime, and the loop does not wait for patches", func(s *situation) {
			s.channels.Config.AsyncAPICalls = true
			s.boundAfterWaiting(10.9, "web")
			s.failed(10.6, "db")
			s.waits(10.7, 10.705, "db")
		}, "take the next"},

		{"the second is seen to fail, and its attempt begins now", func(s *situation) {
			s.channels.Verbosity = 3
			s.free("web")
			s.pod("db", queue.Active, 0)
			s.fact(10.001, &sources.FailedAttempt{Pod: world.Key("db"), UID: "db", Log: true, Began: world.At(10)})
		}, "take db"},

		// An attempt that failed is seen nearby.
		{"the second is seen to fail now", func(s *situation) {
			s.free("web")
			s.pod("db", queue.Active, 0)
			s.failed(10.0001, "db")
		}, "take db"},
		{"the second is seen to fail later", func(s *situation) { s.free("web"); s.free("db"); s.failed(10.02, "db") }, "take the next"},
		{"the second is seen to be patched, where requests wait", func(s *situation) {
			s.free("web")
			s.free("db")
			s.patched(10.04, 10.05, "db")
			s.load(10)
		}, "take db"},
		{"a pod fails that the model has elsewhere, where requests wait", func(s *situation) {
			s.free("web")
			s.pod("db", queue.Unschedulable, 1)
			s.failed(10.03, "db")
			s.load(10)
		}, "wait 0.0300"},
		{"a pod fails that the model has elsewhere", func(s *situation) {
			s.free("web")
			s.pod("db", queue.Unschedulable, 1)
			s.failed(10.03, "db")
		}, "take the next"},
		{"another pod of that name fails", func(s *situation) {
			s.free("web")
			s.free("db")
			s.fact(10.001, &sources.FailedAttempt{Pod: world.Key("db"), UID: "another"})
		}, "take the next"},

		// An attempt must show, and does not.
		{"a new pod's does not show", func(s *situation) { s.pod("web", queue.Active, 0) }, "wait 0.4000 or a move"},
		{"of a pod that failed before it does not show", func(s *situation) { s.pod("web", queue.Active, 1) }, "put back web"},
		{"it needs a claim that is not there, and does not show", func(s *situation) {
			s.pod("web", queue.Active, 1, func(p *v1.Pod) {
				p.Spec.Volumes = []v1.Volume{{VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "missing"}}}}
			})
		}, "put back web"},
		{"it does not show, and others fail all the time", func(s *situation) { s.pod("web", queue.Active, 1); s.failEvery(0.05) }, "wait 0.4000 or a move"},
		{"it does not show, and others fail now and then", func(s *situation) { s.pod("web", queue.Active, 1); s.failEvery(0.07) }, "put back web"},
		{"it does not show, and others fail as soon as a slow loop gets to them", func(s *situation) { s.slow(); s.pod("web", queue.Active, 1); s.failEvery(0.07) }, "wait 0.4000 or a move"},
		{"it does not show, soon after requests waited", func(s *situation) {
			s.pod("web", queue.Active, 1)
			s.load(6)
		}, "wait 0.4000 or a move"},
		{"it does not show, as long after requests waited as pods may wait for the loop", func(s *situation) {
			s.pod("web", queue.Active, 1)
			s.load(5)
		}, "wait 0.4000 or a move"},
		{"it does not show, long after requests waited", func(s *situation) {
			s.pod("web", queue.Active, 1)
			s.load(4)
		}, "put back web"},
		{"it does not show, while requests wait", func(s *situation) {
			s.pod("web", queue.Active, 1)
			s.load(10)
		}, "take the next"},
		{"it does not show, of a pod that needs a device", func(s *situation) { s.pod("web", queue.Active, 1, claims) }, "wait 0.4000 or a move"},
		{"a pod that needs a device is bound late", func(s *situation) {
			s.pod("web", queue.Active, 1, claims)
			s.bound(14, "web")
		}, "take the next"},
		{"it does not show, of a pod whose device is not ready", func(s *situation) {
			s.pod("web", queue.Active, 0, claims)
			s.preBind.UnreadyClaim = func(*v1.Pod) *resourcev1.ResourceClaim { return allocated("web") }
		}, "take the next"},
		{"the scheduler writes soon that a pod has a device", func(s *situation) {
			s.pod("web", queue.Active, 0, claims)
			s.changed(10.01, sources.Updated, allocated("web"))
		}, "wait 0.0087 or a move"},
		{"the scheduler writes now that a pod has a device", func(s *situation) {
			s.pod("web", queue.Active, 0, claims)
			s.changed(10.0013, sources.Updated, allocated("web"))
		}, "take the next"},
		{"nothing is told that far", func(s *situation) {
			s.pod("web", queue.Active, 1)
			s.channels.Until = world.At(10)
		}, "take the next"},
		{"little is told that far", func(s *situation) {
			s.pod("web", queue.Active, 1)
			s.channels.Until = world.At(10.3)
		}, "wait 0.2000 or a move"},
		{"it does not show, and that of the second need not", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.free("db")
		}, "take db"},
		{"of no pod it shows", func(s *situation) {
			for i := range upcomingLimit {
				s.pod(fmt.Sprint("web-", i), queue.Active, 0)
			}
			s.free("db")
		}, "wait 0.4000 or a move"},

		// It shows later.
		{"it shows now", func(s *situation) { s.pod("web", queue.Active, 0); s.failed(10.001, "web") }, "take web"},
		{"it was over before now", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.patched(9.99, 9.999, "web")
		}, "wait 0.4000 or a move"},
		{"it shows soon: that is the next", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.free("db")
			s.failed(10.01, "web")
		}, "wait 0.0087 or a move"},
		{"it shows not as soon, after what may wake pods", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.free("db")
			s.changed(10.005, sources.Updated, world.Node("node", "1"))
			s.failed((10*time.Second + patchSlack + soon).Seconds(), "web")
		}, "take db"},
		{"it shows as soon as what shows of any work does, after what may wake pods", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.free("db")
			s.changed(10.005, sources.Updated, world.Node("node", "1"))
			s.failed((10*time.Second + patchSlack).Seconds(), "web")
		}, "wait 0.0587 or a move"},
		{"it shows not as soon, after what may wake pods, and attempts take so long", func(s *situation) {
			s.slow()
			s.pod("web", queue.Active, 0)
			s.free("db")
			s.changed(10.005, sources.Updated, world.Node("node", "1"))
			s.failed((10*time.Second + patchSlack + soon).Seconds(), "web")
		}, "wait 0.0600 or a move"},
		{"it shows later, and nothing wakes pods: the loop is held up", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.free("db")
			s.failed(10.3, "web")
		}, "wait 0.2987 or a move"},
		{"it shows later, after what may wake pods", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.free("db")
			s.changed(10.2, sources.Updated, world.Node("node", "1"))
			s.failed(10.3, "web")
		}, "take db"},
		{"it shows later, and what may wake pods is on its way", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.free("db")
			s.failed(10.3, "web")
			s.wakeComing = func() bool { return true }
		}, "take db"},
		{"it is seen bound later", func(s *situation) { s.pod("web", queue.Active, 0); s.bound(10.1, "web") }, "wait 0.0987 or a move"},
		{"it is seen bound later, by a request that was sent sooner", func(s *situation) { s.pod("web", queue.Active, 0); s.sent(10.05, 10.1, "web") }, "wait 0.0487 or a move"},
		{"it is seen bound by a request that was sent before now: its attempt was before", func(s *situation) { s.pod("web", queue.Active, 0); s.sent(9.99, 10.1, "web") }, "wait 0.4000 or a move"},
		{"it is seen bound later, by a request that waited", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.waiting(10)
			s.fact(10.09, &sources.Requested{})
			s.bound(10.1, "web")
		}, "take the next"},
		{"it is seen bound later, and was placed before another failed, whose patch is answered later still", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.failed(10.05, "db")
			s.bound(10.1, "web")
			s.patched(10.051, 10.2, "db")
		}, "wait 0.0487 or a move"},
		{"the first of two that show later", func(s *situation) {
			s.pod("web", queue.Active, 0)
			s.pod("db", queue.Active, 0)
			s.changed(10.1, sources.Updated, world.Node("node", "1"))
			s.failed(10.2, "db")
			s.failed(10.3, "web")
		}, "wait 0.1987 or a move"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := decides(t, c.set)
			if got := o.decide(world.At(10)).String(); got != c.want {
				t.Errorf("it decides to %s, want: %s", got, c.want)
			}
			if again := o.decide(world.At(10)).String(); again != c.want {
				t.Errorf("asked again, it decides to %s", again)
			}
		})
	}
}

// TestInstead: whose attempt the loop made, where the model has just begun one of web.
func TestInstead(t *testing.T) {
	places := cycle.Attempt{Binding: &cycle.Binding{}}
	fails := cycle.Attempt{Message: world.TooSmall}
	for _, c := range []struct {
		name    string
		attempt cycle.Attempt
		set     func(*situation)
		want    string
	}{
		{"nothing else shows", places, func(s *situation) {}, ""},
		{"another is bound", places, func(s *situation) { s.bound(10.05, "db") }, "db"},
		{"another is bound too late to have begun", places, func(s *situation) { s.bound(10.07, "db") }, ""},
		{"both are bound, the other first", places, func(s *situation) { s.bound(10.05, "db"); s.bound(10.07, "web") }, "db"},
		{"both are bound, the other first, too late to have begun", places, func(s *situation) { s.bound(10.07, "db"); s.bound(11, "web") }, ""},
		{"both are bound as near each other as requests are", places, func(s *situation) { s.bound(10.05, "db"); s.bound(10.06, "web") }, ""},
		{"both are bound, and its request was sent after the other's", places, func(s *situation) { s.sent(10.02, 10.05, "db"); s.sent(10.025, 10.05, "web") }, "db"},
		{"both are bound, and their requests were sent at once", places, func(s *situation) { s.sent(10.02, 10.05, "db"); s.sent(10.021, 10.07, "web") }, ""},
		{"both are bound, it first", places, func(s *situation) { s.bound(10.02, "web"); s.bound(10.05, "db") }, ""},
		{"both are bound, the other first, where requests wait", places, func(s *situation) { s.load(10); s.bound(10.05, "db"); s.bound(10.07, "web") }, ""},
		{"both are bound, the other first, and it has a claim that others provide for", places, func(s *situation) {
			claims(s.line[0].Pod)
			s.bound(10.05, "db")
			s.bound(10.07, "web")
		}, ""},
		{"it ends at once, and another is bound", places, func(s *situation) {
			s.changed(10.02, sources.Deleted, world.PendingPod("web", "1"))
			s.bound(10.05, "db")
		}, ""},
		{"it is bound later, and another before, where the loop does not wait for requests", places, func(s *situation) {
			s.channels.Config.AsyncAPICalls = true
			s.bound(10.05, "db")
			s.bound(10.5, "web")
		}, ""},
		{"the same, where it does", places, func(s *situation) { s.bound(10.05, "db"); s.bound(10.5, "web") }, "db"},
		{"it ends later, and another is bound", places, func(s *situation) {
			s.bound(10.05, "db")
			s.changed(10.2, sources.Deleted, world.PendingPod("web", "1"))
		}, "db"},
		{"another is bound that the loop can't take", places, func(s *situation) { s.bound(10.05, "elsewhere") }, ""},
		{"another fails", fails, func(s *situation) { s.failed(10.01, "db") }, "db"},
		{"another fails, where it is to be placed and is not", places, func(s *situation) { s.failed(10.01, "db") }, "db"},
		{"it is patched, and another fails", fails, func(s *situation) { s.patched(10.001, 10.005, "web"); s.failed(10.01, "db") }, ""},
		{"nothing would be written, and another fails", fails, func(s *situation) {
			world.Reject(s.line[0].Pod, world.TooSmall, "")
			s.failed(10.01, "db")
		}, ""},
		{"another fails later: the loop was held up until then", fails, func(s *situation) { s.failed(10.05, "db") }, "wait 0.0487"},
		{"another fails later, where it is to be placed and is not", places, func(s *situation) { s.failed(10.05, "db") }, ""},
		{"nothing would be written, and another fails later", fails, func(s *situation) {
			world.Reject(s.line[0].Pod, world.TooSmall, "")
			s.failed(10.05, "db")
		}, ""},
		{"another fails later, that the loop can't take", fails, func(s *situation) { s.failed(10.05, "elsewhere") }, ""},
		{"another fails later, where the loop waits for no patch", fails, func(s *situation) { s.channels.Config.AsyncAPICalls = true; s.failed(10.05, "db") }, ""},
		{"it is patched later, and another fails", fails, func(s *situation) { s.patched(10.3, 10.305, "web"); s.failed(10.01, "db") }, "db"},
		{"it is patched later, and another fails, where the loop waits for no patch", fails, func(s *situation) {
			s.channels.Config.AsyncAPICalls = true
			s.patched(10.3, 10.305, "web")
			s.failed(10.01, "db")
		}, ""},
		{"its patch is that of its next attempt, where the loop waits for none", fails, func(s *situation) {
			s.channels.Config.AsyncAPICalls = true
			s.failed(10.01, "db")
			s.failed(10.02, "web")
			s.patched(10.3, 10.305, "web")
		}, ""},
		{"it is bound before a patch was sent, where the loop waits for none", fails, func(s *situation) {
			s.channels.Config.AsyncAPICalls = true
			s.failed(10.01, "db")
			s.bound(10.3, "web")
		}, ""},
		{"another fails, where the loop waits for no patch", fails, func(s *situation) {
			s.channels.Config.AsyncAPICalls = true
			s.failed(10.01, "db")
		}, "db"},
		{"another fails later, where a log tells of all attempts", fails, func(s *situation) { s.channels.Verbosity = 4; s.failed(10.05, "db") }, ""},
		{"another fails later than any work takes", fails, func(s *situation) { s.failed((10*time.Second + patchSlack + time.Millisecond).Seconds(), "db") }, ""},
		{"another fails later, where requests wait", fails, func(s *situation) { s.failed(10.05, "db"); s.load(10) }, "db"},
		{"it is bound after a patch that waits", places, func(s *situation) {
			s.waiting(10)
			s.waits(10.3, 10.305, "db")
			s.bound(10.4, "web")
		}, "db"},
		{"it is bound after a patch that waits, and has to wait for a volume", places, func(s *situation) {
			s.line[0].Pod.Spec.Volumes = []v1.Volume{{VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: "disk"}}}}
			s.waiting(10)
			s.waits(10.3, 10.305, "db")
			s.bound(10.4, "web")
		}, ""},
		{"it is bound after a patch that waits, by a request that was sent before", places, func(s *situation) {
			s.waiting(10)
			s.waits(10.3, 10.305, "db")
			s.sent(10.29, 10.4, "web")
		}, ""},
		{"it is bound before a patch that waits", places, func(s *situation) {
			s.waiting(10)
			s.bound(10.2, "web")
			s.waits(10.3, 10.305, "db")
		}, ""},
		{"it is not bound, and a patch waits", places, func(s *situation) {
			s.waiting(10)
			s.waits(10.3, 10.305, "db")
		}, ""},
		{"it goes after a patch that waits", places, func(s *situation) {
			s.waiting(10)
			s.waits(10.3, 10.305, "db")
			s.changed(10.4, sources.Deleted, world.PendingPod("web", "1"))
		}, ""},
		{"it is bound, and another fails", places, func(s *situation) { s.bound(11, "web"); s.failed(10.01, "db") }, ""},
		{"it would be nominated, and another fails", cycle.Attempt{Message: world.TooSmall, Nominated: "node"}, func(s *situation) {
			world.Reject(s.line[0].Pod, world.TooSmall, "")
			s.failed(10.01, "db")
		}, "db"},
		{"it is nominated already, and another fails", cycle.Attempt{Message: world.TooSmall, Nominated: "node"}, func(s *situation) {
			world.Reject(s.line[0].Pod, world.TooSmall, "node")
			s.failed(10.01, "db")
		}, ""},
		{"it would fail for another reason, and another fails", fails, func(s *situation) {
			world.Reject(s.line[0].Pod, "another reason", "")
			s.failed(10.01, "db")
		}, "db"},
		{"pods are not heard, and another fails", fails, func(s *situation) { s.unheard(sources.PodsWatch); s.failed(10.01, "db") }, ""},
		{"pods are not heard, and another is bound", places, func(s *situation) { s.unheard(sources.PodsWatch); s.bound(10.05, "db") }, ""},
		{"it was skipped", cycle.Attempt{Skipped: true}, func(s *situation) { s.failed(10.01, "db") }, ""},
		{"requests are not told", fails, func(s *situation) { s.channels.Requests = false; s.failed(10.01, "db") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := c.attempt
			o := decides(t, func(s *situation) {
				a.Pod = s.pod("web", queue.InFlight, 1)
				s.pod("db", queue.Active, 1)
				s.pod("elsewhere", queue.Unschedulable, 1)
				c.set(s)
			})
			got := ""
			switch does := o.insteadOf(world.At(10), &a); does.do {
			case takePod:
				got = does.pod.Name
			case wait:
				got = does.String()
			}
			if got != c.want {
				t.Errorf("it was that of %q, want %q", got, c.want)
			}
		})
	}
}

// TestPatchedAt: when the loop has the answer to the patch of an attempt that ends now.
func TestPatchedAt(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*situation)
		want float64
	}{
		{"it is sent at once", func(s *situation) { s.patched(10.002, 10.006, "web") }, 10.006},
		{"none is seen", func(s *situation) {}, 10},
		{"it is sent much later: it is that of another attempt", func(s *situation) { s.patched(10.4, 10.405, "web") }, 10},
		{"it is sent much later, where requests wait", func(s *situation) { s.load(10); s.patched(10.4, 10.405, "web") }, 10.405},
		{"requests are not told", func(s *situation) { s.channels.Requests = false }, 10.2},
		{"it waits its turn", func(s *situation) { s.waiting(10); s.waits(10.3, 10.305, "web") }, 10.305},
		{"another one's is next", func(s *situation) { s.waiting(10); s.waits(10.3, 10.305, "db"); s.patched(10.4, 10.405, "web") }, 10},
		{"that of one whose binding failed is next", func(s *situation) {
			s.binding("db")
			s.waiting(10)
			s.waits(10.3, 10.305, "db")
			s.waits(10.4, 10.405, "web")
		}, 10.405},
		{"pods are not heard", func(s *situation) { s.unheard(sources.PodsWatch) }, 10.2},
		{"pods are not heard, and it is seen", func(s *situation) { s.unheard(sources.PodsWatch); s.patched(10.002, 10.006, "web") }, 10.006},
		{"it is sent as late as a patch can be", func(s *situation) { s.patched(10.06, 10.065, "web") }, 10.065},
	} {
		o := decides(t, c.set)
		if got := o.patchedAt(world.At(10), "web", "", world.At(10.2)); !got.Equal(world.At(c.want)) {
			t.Errorf("%s: the loop has it at %s, want %s", c.name, got, world.At(c.want))
		}
	}
}

// TestSeesBinding: whether the model may take a pod that it placed for bound, up to when that is seen.
func TestSeesBinding(t *testing.T) {
	awaits := func(s *situation) { s.preBind.AwaitsVolume = func(*v1.Pod) bool { return true } }
	for _, c := range []struct {
		name string
		set  func(*situation)
		want bool
	}{
		{"it is bound at once", func(s *situation) { s.bound(10.01, "web") }, true},
		{"nothing is seen", func(s *situation) {}, false},
		{"nothing is seen, and it waits for a volume", awaits, true},
		{"it waits for a volume, and is bound", func(s *situation) { awaits(s); s.bound(16, "web") }, true},
		{"it waits for a volume, and that fails", func(s *situation) { awaits(s); s.failed(16, "web") }, true},
		{"it is bound later than requests take", func(s *situation) { s.bound(12.5, "web") }, false},
		{"it is bound as late as requests take", func(s *situation) { s.bound(12, "web") }, true},
		{"it is bound later, by a request that waited", func(s *situation) {
			s.waiting(12)
			s.fact(12.45, &sources.Requested{})
			s.bound(12.5, "web")
		}, true},
		{"it is deleted at once", func(s *situation) { s.changed(10.02, sources.Deleted, world.PendingPod("web", "1")) }, true},
		{"it is deleted as late as its binding would have shown", func(s *situation) { s.changed(10.06, sources.Deleted, world.PendingPod("web", "1")) }, true},
		{"it is deleted when its binding would have shown", func(s *situation) { s.changed(10.07, sources.Deleted, world.PendingPod("web", "1")) }, false},
		{"it is deleted before its turn, which comes behind three that wait", func(s *situation) {
			s.inLine(3)
			s.changed(10.07, sources.Deleted, world.PendingPod("web", "1"))
		}, true},
		{"it is deleted as its turn comes, behind three that wait", func(s *situation) {
			s.inLine(3)
			s.changed(10.08, sources.Deleted, world.PendingPod("web", "1"))
		}, false},
		{"requests are not told", func(s *situation) { s.channels.Requests = false }, true},
		{"pods are not heard", func(s *situation) { s.unheard(sources.PodsWatch) }, true},
		{"it needs no device, and that of another is not ready", func(s *situation) {
			s.preBind.UnreadyClaim = func(*v1.Pod) *resourcev1.ResourceClaim { return &resourcev1.ResourceClaim{} }
		}, false},
		{"it waits for a volume, and fits nowhere", func(s *situation) {
			awaits(s)
			s.fact(16, &sources.FailedAttempt{Pod: world.Key("web"), UID: "web", Message: world.TooSmall})
		}, false},
	} {
		o := decides(t, c.set)
		if got := o.seesBinding(world.At(10), world.PendingPod("web", "1")); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestSeesBindingOfADevice: a pod may be taken for bound whose device is not ready, as the scheduler has written or writes soon.
func TestSeesBindingOfADevice(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*situation)
		want bool
	}{
		{"nothing is written", func(*situation) {}, false},
		{"it is written", func(s *situation) {
			s.preBind.UnreadyClaim = func(*v1.Pod) *resourcev1.ResourceClaim { return allocated("web") }
		}, true},
		{"it is written soon", func(s *situation) { s.changed(11, sources.Updated, allocated("web")) }, true},
		{"it is written later than requests take", func(s *situation) { s.changed(12.5, sources.Updated, allocated("web")) }, false},
		{"it is written soon of another's", func(s *situation) { s.changed(11, sources.Updated, allocated("db")) }, false},
	} {
		web := world.PendingPod("web", "1")
		claims(web)
		if got := decides(t, c.set).seesBinding(world.At(10), web); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestPatchesNomination: a patch of a pod's status is of no attempt of its own if another pod's attempt took its nomination away just
// before. There is one such patch.
func TestPatchesNomination(t *testing.T) {
	for _, c := range []struct {
		name      string
		cleared   float64 // 0: by nobody
		nominated string
		want      bool
	}{
		{"it was just taken away", 9.9, "", true},
		{"nobody took it", 0, "", false},
		{"it is nominated", 9.9, "node", false},
		{"it was taken away longer ago than requests take", 8, "", false},
	} {
		web := world.PendingPod("web", "1")
		web.Status.NominatedNodeName = c.nominated
		o := decides(t, func(s *situation) {
			if s.cleared = map[types.UID]time.Time{}; c.cleared > 0 {
				s.cleared[web.UID] = world.At(c.cleared)
			}
		})
		got, again := o.patchesNomination(world.At(10), web), o.patchesNomination(world.At(10), web)
		if got != c.want || again {
			t.Errorf("%s: %t, and the next patch: %t", c.name, got, again)
		}
	}
}

// TestSeesDeletion: whether the model may take a victim for deleted, up to when that is seen.
func TestSeesDeletion(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*situation)
		want bool
	}{
		{"nothing is seen", func(*situation) {}, false},
		{"it goes soon", func(s *situation) { s.changed(11, sources.Deleted, world.PendingPod("low", "1")) }, true},
		{"it goes later than requests take", func(s *situation) { s.changed(13, sources.Deleted, world.PendingPod("low", "1")) }, false},
		{"another goes", func(s *situation) { s.changed(11, sources.Deleted, world.PendingPod("web", "1")) }, false},
		{"requests are not told", func(s *situation) { s.channels.Requests = false }, true},
		{"pods are not heard", func(s *situation) { s.unheard(sources.PodsWatch) }, true},
	} {
		if got := decides(t, c.set).seesDeletion(world.At(10), "low"); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestFailsAt: when the attempt that begins now is seen to fail. What was seen is that attempt's, and no other one's.
func TestFailsAt(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   func(*situation)
		waits int     // for the deletion of so many victims
		want  float64 // 0: it is not
	}{
		{"nothing is seen", func(*situation) {}, 0, 0},
		{"it fails soon", func(s *situation) { s.failed(10.01, "web") }, 0, 10.01},
		{"another one fails", func(s *situation) { s.failed(10.01, "db") }, 0, 0},
		{"it fails later", func(s *situation) { s.failed(10.02, "web") }, 0, 0},
		{"it fails later, and its log tells when attempts begin", func(s *situation) { s.channels.Verbosity = 3; s.failed(10.02, "web") }, 0, 10.02},
		{"it fails later, and its log tells when attempts end", func(s *situation) { s.channels.Verbosity = 2; s.failed(10.02, "web") }, 0, 0},
		{"it fails later, as it waits for victims to be deleted", func(s *situation) { s.failed(10.9, "web") }, 1, 10.9},
	} {
		o := decides(t, c.set)
		web := &cycle.Attempt{Pod: world.PendingPod("web", "1"), Evictions: make([]*cycle.Eviction, c.waits)}
		at, ok := o.failsAt(world.At(10), web)
		if ok != (c.want != 0) || ok && !at.Equal(world.At(c.want)) {
			t.Errorf("%s: at %s, %t", c.name, at, ok)
		}
		if _, again := o.failsAt(world.At(10), web); again {
			t.Errorf("%s: it fails twice", c.name)
		}
	}
}

// TestUntried: whether the real loop has left a pod alone that it could take.
func TestUntried(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*situation)
		want bool
	}{
		{"an attempt would show, and none is seen", func(s *situation) { s.pod("web", queue.Active, 0) }, true},
		{"one is seen", func(s *situation) { s.pod("web", queue.Active, 0); s.failed(10.3, "web") }, false},
		{"one is seen much later", func(s *situation) { s.pod("web", queue.Active, 0); s.failed(10.5, "web") }, true},
		{"it need not show", func(s *situation) { s.free("web") }, false},
		{"its version is new, and the scheduler may not have heard of that", func(s *situation) { s.updated("web", 3, channels.VersionSlack-1) }, false},
		{"its version is new, and the scheduler has heard of that", func(s *situation) { s.updated("web", 3, channels.VersionSlack) }, true},
		{"its version is new, and of the one before a second failure would show", func(s *situation) { s.updated("web", 1, 0) }, true},
		{"it shows late, where requests wait", func(s *situation) { s.pod("web", queue.Active, 0); s.load(10) }, true},
		{"nothing is told that far", func(s *situation) { s.pod("web", queue.Active, 0); s.channels.Until = world.At(10) }, false},
		{"nothing is heard that far", func(s *situation) { s.pod("web", queue.Active, 0); s.unheard(sources.PodsWatch) }, false},
		{"it waits for a device", func(s *situation) {
			s.pod("web", queue.Active, 0, claims)
			s.preBind.UnreadyClaim = func(*v1.Pod) *resourcev1.ResourceClaim { return &resourcev1.ResourceClaim{} }
		}, false},
	} {
		o := decides(t, c.set)
		if got := o.untried(world.At(10), o.queue.Queue.(line)[0].Pod); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestSlack: without the recorder, or where requests wait, a sign of an attempt may come much later.
func TestSlack(t *testing.T) {
	o := decides(t, func(s *situation) {})
	if got := o.channels.Slack(world.At(10), true); got != channels.AttemptSlack {
		t.Errorf("with the recorder it is %s", got)
	}
	o = decides(t, func(s *situation) { s.load(10) })
	if got := o.channels.Slack(world.At(10), true); got != channels.UnrecordedSlack {
		t.Errorf("where requests wait it is %s", got)
	}
	o = decides(t, func(s *situation) { s.channels.Records = false })
	if got := o.channels.Slack(world.At(10), true); got != channels.UnrecordedSlack {
		t.Errorf("without the recorder it is %s", got)
	}
	unheard := func(resource string) sources.Status {
		return sources.Status{Resources: []sources.Resource{{Name: resource, Unheard: sources.Gap{Since: world.At(5), Until: world.At(10)}}}}
	}
	o = decides(t, func(s *situation) { s.channels.Gaps.Note(world.At(10), unheard(sources.EventsWatch)) })
	if event, patch := o.channels.Slack(world.At(10), true), o.channels.Slack(world.At(10), false); event != channels.AttemptSlack || patch != channels.UnrecordedSlack {
		t.Errorf("where Events were not heard it is %s for one, and %s for a patch", event, patch)
	}
	o = decides(t, func(s *situation) {
		s.channels.Gaps.Note(world.At(10), sources.Status{Resources: []sources.Resource{{Name: sources.EventsWatch, Unheard: sources.Gap{Since: world.At(10).Add(1)}}}})
	})
	if patch := o.channels.Slack(world.At(10), false); patch != channels.AttemptSlack {
		t.Errorf("where Events are heard up to now it is %s for a patch", patch)
	}
	o = decides(t, func(s *situation) { s.channels.Gaps.Note(world.At(10), unheard(sources.PodsWatch)) })
	if event, patch := o.channels.Slack(world.At(10), true), o.channels.Slack(world.At(10), false); event != channels.AttemptSlack || patch != 5*time.Second+channels.UnrecordedSlack {
		t.Errorf("where pods were not heard it is %s for an Event, and %s for a patch", event, patch)
	}
}

// TestUnexpectedPatch: a patch that shortly follows an attempt of the model is that one's; a later one is another's.
func TestUnexpectedPatch(t *testing.T) {
	for after, want := range map[time.Duration]int{unexpectedPatch - time.Millisecond: 1, unexpectedPatch: 2} {
		s := newShadow(world.Config(t), nil, nil, true, func(sources.Event) {})
		t.Cleanup(s.close)
		s.nodesTold = true
		s.objects.Put(world.Node("node-a", "1"))
		web := world.PendingPod("web", "2")
		s.objects.Put(web)
		s.oracle.channels.Records = true
		s.oracle.channels.Until = world.At(0) // so no attempt must show
		if err := s.start(world.At(1)); err != nil {
			t.Fatal(err)
		}
		s.advance(world.At(1.001))
		last, _ := s.oracle.tried.Last("web")
		tries := last.At
		if tries.IsZero() {
			t.Fatal("no attempt was made")
		}
		s.advance(tries.Add(after))
		s.takeInPatch(tries.Add(after), web, false)
		if info, _ := s.driver.queue.Get("default", "web"); info.Attempts != want {
			t.Errorf("patched %s later there were %d attempts, want %d", after, info.Attempts, want)
		}
	}
}

// TestUntilSeen: how much of the time from 10 on until what is seen next an attempt has that begins then.
func TestUntilSeen(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*situation)
		want time.Duration
	}{
		{"none is seen", func(s *situation) { s.free("web") }, LongestGap},
		{"the next one is, soon: each of the two has half of the time", func(s *situation) {
			s.pod("db", queue.Active, 1)
			s.failed(10.003, "db")
		}, 1500 * time.Microsecond},
		{"the one after two that need not show: each of the four has a fourth", func(s *situation) {
			s.free("web")
			s.free("api")
			s.pod("db", queue.Active, 1)
			s.failed(10.004, "db")
		}, time.Millisecond},
		{"one that must show and does not is not tried", func(s *situation) {
			s.pod("web", queue.Active, 1)
			s.free("api")
			s.pod("db", queue.Active, 1)
			s.failed(10.003, "db")
		}, time.Millisecond},
		{"one is placed first: it was before the request was sent", func(s *situation) {
			s.pod("web", queue.Active, 1)
			s.sent(10.003, 10.008, "web")
			s.pod("db", queue.Active, 1)
			s.failed(10.004, "db")
		}, 1500 * time.Microsecond},
		{"one is placed first, and when is not known", func(s *situation) {
			s.pod("web", queue.Active, 1)
			s.bound(10.003, "web")
			s.pod("db", queue.Active, 1)
			s.failed(10.004, "db")
		}, LongestGap},
		{"one is placed first, and its request waited", func(s *situation) {
			s.waiting(9.99)
			s.pod("web", queue.Active, 1)
			s.fact(10.003, &sources.Requested{})
			s.sent(10.003, 10.008, "web")
		}, LongestGap},
		{"the patch of one is seen: it had failed when that was sent", func(s *situation) {
			s.pod("db", queue.Active, 1)
			s.patched(10.002, 10.009, "db")
		}, time.Millisecond},
		{"the patch of one is seen, for which the loop does not wait", func(s *situation) {
			s.channels.Config.AsyncAPICalls = true
			s.pod("db", queue.Active, 1)
			s.patched(10.002, 10.009, "db")
		}, LongestGap},
		{"there is no time for that many: their real order is another", func(s *situation) {
			for i := range 6 {
				s.free(fmt.Sprint("pod-", i))
			}
			s.pod("db", queue.Active, 1)
			s.failed(10.0004, "db")
		}, LongestGap},
		{"it fails much later", func(s *situation) {
			s.pod("db", queue.Active, 1)
			s.failed(10+2*crowding.Seconds(), "db")
		}, LongestGap},
	} {
		if _, got := decides(t, c.set).untilSeen(world.At(10), 1); got != c.want {
			t.Errorf("%s: it has %s, want %s", c.name, got, c.want)
		}
	}
}
