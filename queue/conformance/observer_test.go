package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
)

// trail is an Observer that checks that each move starts where the previous one ended.
type trail struct {
	at     map[types.UID]queue.Tier
	named  map[types.UID]string
	broken string
	failed []error
	off    bool // no more checks
}

func newTrail() trail {
	return trail{at: map[types.UID]queue.Tier{}, named: map[types.UID]string{}}
}

// Moved implements queue.Observer.
func (t *trail) Moved(m queue.Transition) {
	uid := m.Pod.UID
	last, known := t.at[uid]
	if !known { // a new pod can replace another one
		for other, name := range t.named {
			if name == m.Pod.Name && t.at[other] == m.From && m.From != queue.None {
				last = m.From
				delete(t.at, other)
				delete(t.named, other)
				break
			}
		}
	}
	if last != m.From && m.To != queue.Deleted && t.broken == "" {
		t.broken = fmt.Sprintf("%s (%s) was %q and moves from %q to %q by %s", m.Pod.Name, uid, last, m.From, m.To, m.Event)
	}
	if m.From == queue.InFlight && m.To == queue.Deleted {
		return // in flight until Done
	}
	t.at[uid], t.named[uid] = m.To, m.Pod.Name
	if m.To == queue.Deleted || m.To == queue.Scheduled {
		delete(t.at, uid)
		delete(t.named, uid)
	}
}

// Failed implements queue.Observer.
func (t *trail) Failed(err error) { t.failed = append(t.failed, err) }

// compareTrail fails if a pod is not where its last reported move ended.
func (p *pair) compareTrail() {
	if p.trail.failed = nil; p.trail.off {
		return
	}
	if p.trail.broken != "" {
		p.differ("%s", p.trail.broken)
	}
	for _, infos := range []func(func(queue.PodInfo) bool){p.ours.Pods(queue.Tier.Queued), p.ours.InFlight()} {
		for info := range infos {
			last, known := p.trail.at[info.Pod.UID]
			if other, _ := p.ours.Get("default", info.Pod.Name); info.Tier == queue.InFlight && other.Tier != queue.InFlight {
				continue // also queued
			}
			if !known || last != info.Tier {
				p.differ("%s is %s, and its last reported move ended at %q", info.Pod.Name, info.Tier, last)
			}
		}
	}
}

// forks are clones from which the sequence did not continue, with their state at that time.
type forks []struct {
	queue *queue.Queue
	state string
}

// fork continues with a clone of the queue, and keeps the original. In another clone, it undoes the
// last pop, and compares.
func (p *pair) fork(now time.Time, _ string, _ *v1.Pod) {
	copied := p.ours.Clone(p.plugins, nil)
	before := p.dump(copied)
	if info, ok := copied.Pop(now); ok && p.groups.of == nil && !p.trail.off {
		from := queue.Active
		if p.ours.PendingPods(queue.Active) == 0 {
			from = queue.Backoff
		}
		if was, _ := p.ours.Get("default", info.Pod.Name); was.Tier == from { // no other pod was dropped before
			copied.Unpop(info.Pod.UID, from)
			if after := p.dump(copied); after != before && len(p.trail.failed) == 0 {
				p.differ("Unpop does not undo Pop:\n%s\nbecame\n%s", before, after)
			}
		}
	}
	p.forks = append(p.forks, struct {
		queue *queue.Queue
		state string
	}{p.ours, before})
	p.ours = p.ours.Clone(p.plugins, &p.trail)
}

// compareForks fails if a kept queue has changed.
func (p *pair) compareForks() {
	if len(p.forks) == 0 || rapid.IntRange(0, 9).Draw(p.T, "look at forks") != 7 { // small numbers are drawn more often
		return
	}
	for _, f := range p.forks {
		if now := p.dump(f.queue); now != f.state {
			p.differ("a cloned queue changed from\n%s\nto\n%s", f.state, now)
		}
	}
}

// dump returns all state of q that its methods expose.
func (p *pair) dump(q *queue.Queue) string {
	var lines []string
	for _, infos := range []func(func(queue.PodInfo) bool){q.Pods(queue.Tier.Queued), q.InFlight()} {
		for info := range infos {
			pod := info.Pod
			info.Pod = nil
			lines = append(lines, fmt.Sprintf("%s %p %+v %v", pod.Name, pod, info, q.EventsInFlight(pod.UID)))
		}
	}
	for tier := queue.Active; tier <= queue.Pending; tier++ {
		lines = append(lines, fmt.Sprint(tier, q.PendingPods(tier)))
	}
	for _, g := range groupNames {
		info, _ := q.Group(types.NamespacedName{Namespace: "default", Name: g})
		lines = append(lines, fmt.Sprint(info.Name, info.Object != nil, info.Tier, info.Attempts, info.Timestamp, len(info.Members)))
	}
	lines = append(lines, fmt.Sprint(q.IncomingPodsTotal(), q.SchedulingCycle(), names(q.NominatedPodsForNode("n-1")), names(q.NominatedPodsForNode("n-2"))))
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
