package joined

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// lastWord limits how long after a pod's deletion its attempt may end: it may wait 15 minutes for a Permit plugin (v1.37:
// framework/runtime/framework.go, maxTimeout), and 10 for VolumeBinding (the default of bindTimeoutSeconds).
const lastWord = 25 * time.Minute

// naming adds UIDs to a scheduler's facts about pods, which have only names.
type naming struct {
	uids    map[types.NamespacedName]types.UID
	gone    []departure // pods to forget
	waiting map[types.NamespacedName][]sources.Event
	unknown map[sources.Fact]bool // the waiting facts that lack one
}

// departure is the deletion of a pod.
type departure struct {
	at  time.Time
	pod types.NamespacedName
	uid types.UID
}

// nameUIDs yields events and adds pods' UIDs where a scheduler's log has only names. A log may be some milliseconds ahead
// of the audit log, so facts about unknown pods wait for as long.
func nameUIDs(events Events) Events {
	return func(yield func(sources.Event, error) bool) {
		n := &naming{map[types.NamespacedName]types.UID{}, nil, map[types.NamespacedName][]sources.Event{}, map[sources.Fact]bool{}}
		var held []sources.Event
		for ev, err := range events {
			if err != nil {
				yield(ev, err)
				return
			}
			n.note(ev)
			held = append(held, ev)
			for len(held) > 0 && (!n.unknown[held[0].Fact] || ev.Time.Sub(held[0].Time) >= maxAhead) {
				first := held[0]
				held[0] = sources.Event{}
				held = held[1:]
				if n.giveUp(first); !yield(first, nil) {
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

// note processes an event.
func (n *naming) note(ev sources.Event) {
	for len(n.gone) > 0 && ev.Time.Sub(n.gone[0].at) > lastWord {
		if d := n.gone[0]; n.uids[d.pod] == d.uid { // the name was not used again
			delete(n.uids, d.pod)
		}
		n.gone = n.gone[1:]
	}
	if c, is := ev.Fact.(*sources.ObjectChange); is {
		if pod, is := c.Object.(*corev1.Pod); is && pod.UID != "" {
			n.show(ev.Time, c.Verb, pod)
		}
		return
	}
	pod, uid := unnamed(ev.Fact)
	if uid == nil {
		return
	}
	if *uid = n.uids[pod]; *uid == "" {
		n.waiting[pod] = append(n.waiting[pod], ev)
		n.unknown[ev.Fact] = true
	}
}

// show records a pod.
func (n *naming) show(now time.Time, verb sources.Verb, pod *corev1.Pod) {
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	n.uids[key] = pod.UID
	if verb == sources.Deleted {
		n.gone = append(n.gone, departure{now, key, pod.UID})
	}
	for _, early := range n.waiting[key] {
		if now.Sub(early.Time) < maxAhead {
			_, uid := unnamed(early.Fact)
			*uid = pod.UID
		}
		delete(n.unknown, early.Fact)
	}
	delete(n.waiting, key)
}

// giveUp lets the first waiting event go without a UID, if it lacks one.
func (n *naming) giveUp(ev sources.Event) {
	if !n.unknown[ev.Fact] {
		return
	}
	delete(n.unknown, ev.Fact)
	pod, _ := unnamed(ev.Fact)
	if rest := n.waiting[pod][1:]; len(rest) > 0 {
		n.waiting[pod] = rest
	} else {
		delete(n.waiting, pod)
	}
}

// unnamed returns the pod of f and where to put its UID, or nil if f has a UID or needs none.
func unnamed(f sources.Fact) (types.NamespacedName, *types.UID) {
	switch f := f.(type) {
	case *sources.FailedAttempt:
		if f.UID == "" {
			return f.Pod, &f.UID
		}
	case *sources.Bound:
		if f.UID == "" {
			return f.Pod, &f.UID
		}
	}
	return types.NamespacedName{}, nil
}
