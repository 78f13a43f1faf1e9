package hearing

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/deliveries"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/sources"
)

// MadeFirst returns the attempts to come that are made without change c, of which the scheduler can have heard at since at the soonest. Of
// these, patches of the pods' statuses tell why they failed, as Events do (MissedBy), but not when: beside the loop, patches wait for each
// other (api_dispatcher.go, v1.34, Run), and of a series of Events only the first has its message. Those whose requests wait for the
// client's rate limit tell nothing, since attempts of long ago may be among them.
func (h *Hearing) MadeFirst(since time.Time, c *sources.ObjectChange) (first deliveries.Attempts) {
	node := h.nodeOf(c)
	if node == nil {
		return first
	}
	patches, pods := h.patched(since, h.unmistakable(since, node))
	for i, outcome := range compare(patches, pods, func(s *evidence.Sighting) string { return s.Wrote }, node, h.Scheduler) {
		if outcome != withoutIt {
			continue
		}
		if first.Pods == nil {
			first.Pods = map[types.UID]struct{}{}
		}
		first.Pods[pods[i].UID] = struct{}{}
		if by := patches[i].By; by.After(first.By) {
			first.By = by
		}
	}
	return first
}

// unmistakable returns for how long after since a message as without the change of node must be one of an attempt that was made without it:
// until the node is as it was again, another is changed, or any is gone, by which the nodes may be as many of each kind as before.
func (h *Hearing) unmistakable(since time.Time, node *v1.Node) time.Duration {
	for s := range h.Future.Changes(since, channels.Foresight) {
		other, is := s.Change.Object.(*v1.Node)
		if !is {
			continue
		}
		heard := h.Scheduler.KnownNode(other.Name)
		if s.Deleted() || heard != nil && h.Scheduler.NodeChanged(heard, other) != (other.Name == node.Name) {
			return s.Time.Sub(since)
		}
	}
	return channels.Foresight
}

// patched returns the patches that are told within that long after since of attempts that the model has not had, and their pods.
func (h *Hearing) patched(since time.Time, within time.Duration) (patches []*evidence.Sighting, pods []*v1.Pod) {
	for s := range h.Future.Shown(since, within) {
		if s.Kind != evidence.Patched || s.Wrote == "" || s.Waited {
			continue
		}
		if last, _ := h.Tried.Last(s.UID); last.Message == s.Wrote {
			continue // it is that one's
		}
		if pod := h.Pod(s); pod != nil {
			patches, pods = append(patches, s), append(pods, pod)
		}
		if len(patches) == mostTold {
			break
		}
	}
	return patches, pods
}
