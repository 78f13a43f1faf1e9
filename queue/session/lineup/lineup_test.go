package lineup_test

import (
	"iter"
	"slices"
	"testing"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/lineup"
	"github.com/schedq/schedq/sources"
)

// pods are those in the queue, in their turn.
type pods []queue.PodInfo

func (p pods) Upcoming() iter.Seq[*v1.Pod] {
	return func(yield func(*v1.Pod) bool) {
		for _, info := range p {
			if info.Tier == queue.Active && !yield(info.Pod) {
				return
			}
		}
	}
}

func (p pods) Get(_, name string) (queue.PodInfo, bool) {
	for _, info := range p {
		if info.Pod.Name == name {
			return info, true
		}
	}
	return queue.PodInfo{}, false
}

func pod(name string, uid types.UID) *v1.Pod {
	p := &v1.Pod{}
	p.Name, p.UID = name, uid
	return p
}

func seen(name string, uid types.UID) *evidence.Sighting {
	return &evidence.Sighting{Pod: types.NamespacedName{Name: name}, UID: uid}
}

func line() lineup.Lineup {
	return lineup.Lineup{
		Queue: pods{
			{Pod: pod("tried", "1"), Tier: queue.InFlight, Attempts: 1}, {Pod: pod("asleep", "2"), Tier: queue.Unschedulable, Attempts: 2},
			{Pod: pod("first", "3"), Tier: queue.Active}, {Pod: pod("second", "4"), Tier: queue.Active, Attempts: 1},
		},
		TakesFrom: func(tier queue.Tier) bool { return tier == queue.Active },
	}
}

// TestIsAwake: a pod is awake that is tried, or that the loop can take.
func TestIsAwake(t *testing.T) {
	for name, want := range map[string]bool{"tried": true, "asleep": false, "first": true, "second": true, "stranger": false} {
		if got := line().IsAwake(types.NamespacedName{Name: name}); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestTakeable: the loop can take a pod from the tiers from which it takes any, if it is the very pod that was seen.
func TestTakeable(t *testing.T) {
	for _, c := range []struct {
		seen *evidence.Sighting
		want bool
	}{{seen("first", "3"), true}, {seen("second", "4"), true}, {seen("second", "another"), false}, {seen("tried", "1"), false}, {seen("asleep", "2"), false}, {seen("none", "5"), false}} {
		if got := line().Takeable(c.seen); (got != nil) != c.want || got != nil && got.UID != c.seen.UID {
			t.Errorf("the pod that is seen as %s %s: %v", c.seen.Pod, c.seen.UID, got)
		}
	}
}

// TestAsleep: a pod is asleep while it is where the loop takes none from, and not being tried.
func TestAsleep(t *testing.T) {
	for _, c := range []struct {
		seen *evidence.Sighting
		want bool
	}{{seen("asleep", "2"), true}, {seen("asleep", "another"), false}, {seen("first", "3"), false}, {seen("tried", "1"), false}, {seen("none", "5"), false}} {
		if got := line().Asleep(c.seen); got != c.want {
			t.Errorf("%s %s is asleep: %t", c.seen.Pod, c.seen.UID, got)
		}
	}
}

// TestWouldPrecede: whether the loop would take a sleeping pod first that something wakes at 10, or one that it can take.
func TestWouldPrecede(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 10, 0, time.UTC)
	info := func(name string, tier queue.Tier, backoff time.Duration, priority int32) queue.PodInfo {
		p := pod(name, types.UID(name))
		p.Spec.Priority = &priority
		return queue.PodInfo{Pod: p, Tier: tier, BackoffExpiry: now.Add(backoff)}
	}
	asleep := func(backoff time.Duration, priority int32) queue.PodInfo {
		return info("asleep", queue.Unschedulable, backoff, priority)
	}
	for _, c := range []struct {
		name          string
		asleep, other queue.PodInfo
		takes         []queue.Tier
		want          bool
	}{
		{"one in activeQ, of one that still backs off", asleep(time.Second, 9), info("other", queue.Active, 0, 0), []queue.Tier{queue.Active}, false},
		{"one in activeQ, of lower priority", asleep(0, 9), info("other", queue.Active, 0, 0), []queue.Tier{queue.Active}, true},
		{"one in activeQ, of the same priority", asleep(0, 9), info("other", queue.Active, 0, 9), []queue.Tier{queue.Active}, false},
		{"one in backoffQ, from which none is taken", asleep(0, 9), info("other", queue.Backoff, time.Second, 0), []queue.Tier{queue.Active}, false},
		{"one in backoffQ, and its own backoff is over", asleep(0, 0), info("other", queue.Backoff, time.Second, 9), []queue.Tier{queue.Active, queue.Backoff}, true},
		{"one in backoffQ that backs off for longer", asleep(time.Second, 0), info("other", queue.Backoff, 2*time.Second, 9), []queue.Tier{queue.Active, queue.Backoff}, true},
		{"one in backoffQ that backs off for as long", asleep(time.Second, 9), info("other", queue.Backoff, time.Second, 0), []queue.Tier{queue.Active, queue.Backoff}, false},
		{"one that is asleep, too", asleep(0, 9), info("other", queue.Unschedulable, 0, 0), []queue.Tier{queue.Active}, false},
	} {
		l := lineup.Lineup{Queue: pods{c.asleep, c.other}, TakesFrom: func(tier queue.Tier) bool { return slices.Contains(c.takes, tier) }}
		if got := l.WouldPrecede(now, seen("asleep", "asleep"), seen("other", "other")); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
		for _, unknown := range [][2]*evidence.Sighting{
			{seen("asleep", "another"), seen("other", "other")}, {seen("asleep", "asleep"), seen("other", "another")},
			{seen("none", "none"), seen("other", "other")}, {seen("asleep", "asleep"), seen("none", "none")},
		} {
			if l.WouldPrecede(now, unknown[0], unknown[1]) {
				t.Errorf("%s: a pod that is not there precedes, or is preceded", c.name)
			}
		}
	}
}

// TestNextSeen: which pod of those in their turn is seen to be tried first, and how many are before it.
func TestNextSeen(t *testing.T) {
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	f := evidence.New(evidence.Of([]sources.Event{{Time: at(20), Fact: &sources.FailedAttempt{Pod: types.NamespacedName{Name: "second"}, UID: "4"}}}),
		time.Minute, time.Millisecond, rate.NewLimiter(rate.Inf, 0))
	for _, c := range []struct {
		name     string
		now      time.Time
		within   time.Duration
		most     int
		mustShow bool
		seen     bool
		before   int
	}{
		{"behind one that need not show", at(10), time.Second, 9, false, true, 1},
		{"behind one that must show, and so is not tried", at(10), time.Second, 9, true, true, 0},
		{"later than anybody looks", at(10), 9 * time.Millisecond, 9, false, false, 0},
		{"it was", at(21), time.Second, 9, false, false, 0},
		{"behind more than are looked at", at(10), time.Second, 1, false, false, 0},
	} {
		seen, before := line().NextSeen(f, c.now, c.within, c.most, func(*v1.Pod) bool { return c.mustShow })
		if (seen != nil) != c.seen || before != c.before {
			t.Errorf("%s: %v behind %d", c.name, seen, before)
		}
	}
}

// TestTurn: whose turn it is, and which pods have failed before.
func TestTurn(t *testing.T) {
	for _, c := range []struct {
		pod          *v1.Pod
		next, failed bool
	}{{pod("first", "3"), true, false}, {pod("second", "4"), false, true}, {pod("asleep", "2"), false, true}, {pod("none", "5"), false, false}} {
		if next, failed := line().IsNext(c.pod), line().FailedBefore(c.pod); next != c.next || failed != c.failed {
			t.Errorf("%s is next: %t, has failed before: %t", c.pod.Name, next, failed)
		}
	}
}
