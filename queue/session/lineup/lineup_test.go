package lineup_test

import (
	"iter"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/lineup"
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
