package hearing

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/lineup"
	"github.com/schedq/schedq/queue/session/tried"
	"github.com/schedq/schedq/sources"
)

// Earlier is how long before the API server's answer a change can have been heard of by the watch. Chosen, no derivation yet; it holds
// where the source's clock is the API server's.
const Earlier = 10 * time.Millisecond

// Hearing is what is known of a scheduler that hears of changes.
type Hearing struct {
	Future    *evidence.Future
	Channels  *channels.Channels
	Line      lineup.Lineup
	Tried     *tried.Pods
	Scheduler Scheduler
	// Pod returns the pod that was seen, if it waits for the scheduler, and otherwise nil.
	Pod       func(*evidence.Sighting) *v1.Pod
	SeesNodes bool // the source tells of nodes
}

// MadeWithout returns when the last attempt ended that was made without change c, of which the scheduler can have heard at since at the
// soonest, as a log shows, or Events that say to the microsecond when attempts failed. Those of core/v1, which say it in whole seconds,
// come without what the recorder wrote. Zero if nothing shows that there was one.
func (h *Hearing) MadeWithout(since time.Time, c *sources.ObjectChange) (ended time.Time) {
	if !h.Channels.Logged() && !h.Channels.Records || !evidence.Rouses(c) {
		return ended
	}
	shown := []time.Time{h.Future.HeardDuring(since, channels.Foresight, Earlier, h.isAwake), h.overtaken(since, c)}
	if node := h.nodeOf(c); node != nil {
		shown = append(shown, MissedBy(h.Future, since, channels.Foresight, node, h.Scheduler, h.Pod))
	}
	return slices.MaxFunc(shown, time.Time.Compare)
}

// nodeOf returns the node that c added or changed, or nil if it is not of one, or attempts come to the same by it.
func (h *Hearing) nodeOf(c *sources.ObjectChange) *v1.Node {
	node, is := c.Object.(*v1.Node)
	if !is || c.Verb == sources.Deleted || !h.SeesNodes {
		return nil
	}
	if heard := h.Scheduler.KnownNode(node.Name); heard != nil && !h.Scheduler.NodeChanged(heard, node) {
		return nil
	}
	return node
}

// isAwake reports whether the pod that was seen is in flight, or where the loop takes it from.
func (h *Hearing) isAwake(seen *evidence.Sighting) bool { return h.Line.IsAwake(seen.Pod) }
