package joined

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// earlier yields changes at the times that move returns, which are less than maxAhead before their own. The changes keep
// their order.
func earlier(changes Events, move func(*sources.Event), room *room) Events {
	return func(yield func(sources.Event, error) bool) {
		var held []sources.Event // a later change may still move before them
		for ev, err := range changes {
			if err == nil {
				room.keep(ev, +1)
				err = room.err()
			}
			if err != nil {
				yield(sources.Event{}, err)
				return
			}
			now := ev.Time
			move(&ev)
			for i := len(held) - 1; i >= 0 && held[i].Time.After(ev.Time); i-- {
				held[i].Time = ev.Time
			}
			held = append(held, ev)
			for len(held) > 0 && now.Sub(held[0].Time) >= maxAhead {
				first := held[0]
				held[0] = sources.Event{}
				held = held[1:]
				if room.keep(first, -1); !yield(first, nil) {
					return
				}
			}
		}
		for _, ev := range held {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// causality records the recent arrivals and departures of pods in a scheduler's log.
type causality struct {
	log     *window
	moves   *recent[passage, struct{}]
	changes *recent[passage, struct{}]
}

// passage is the arrival or departure of a pod.
type passage struct {
	pod  types.NamespacedName
	gone bool
}

func newCausality(log *window) *causality {
	c := &causality{log, newRecent[passage, struct{}](), newRecent[passage, struct{}]()}
	log.seen = append(log.seen, func(ev sources.Event) {
		if m, is := ev.Fact.(*sources.Move); is && (queue.IsPodAdd(m.Event) || m.To == sources.TierDeleted) {
			c.moves.add(ev.Time, passage{m.Pod, !queue.IsPodAdd(m.Event)}, struct{}{})
		}
	})
	return c
}

// behind limits how far the changes may be behind the log that they are compared with: more than one log may move them
// by up to maxAhead, and each time some of them wait for as long.
const behind = 10 * maxAhead

// precede moves an object's change to an earlier time where the scheduler's log proves that it had
// happened by then: a pod exists when it is first queued, and is gone when the scheduler says so. A pod whose name is
// used again within moments is left alone.
func (c *causality) precede(ev *sources.Event) {
	what, is := passageOf(ev.Fact)
	if !is {
		return
	}
	c.log.readTo(ev.Time.Add(maxAhead))
	c.moves.forget(ev.Time.Add(-behind))
	c.changes.forget(ev.Time.Add(-behind))
	again := len(c.changes.near(what, ev.Time)) > 0
	c.changes.add(ev.Time, what, struct{}{})
	moves := c.moves.near(what, ev.Time)
	if again || len(moves) != 1 {
		return
	}
	if at := moves[0].at; at.Before(ev.Time) {
		ev.Time = at
	}
}

// passageOf returns the arrival or departure that a change is.
func passageOf(f sources.Fact) (passage, bool) {
	c, is := f.(*sources.ObjectChange)
	if !is {
		return passage{}, false
	}
	pod, is := c.Object.(*corev1.Pod)
	if !is || c.Verb != sources.Added && (c.Verb != sources.Deleted || pod.Spec.NodeName != "") {
		return passage{}, false
	}
	return passage{types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, c.Verb == sources.Deleted}, true
}

// near returns the values that are less than maxAhead from a time.
func (r *recent[K, V]) near(of K, t time.Time) []timed[V] {
	all := r.of[of]
	for len(all) > 0 && t.Sub(all[0].at) >= maxAhead {
		all = all[1:]
	}
	for len(all) > 0 && all[len(all)-1].at.Sub(t) >= maxAhead {
		all = all[:len(all)-1]
	}
	return all
}
