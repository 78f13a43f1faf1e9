package session

import "github.com/schedq/schedq/queue"

// Injectables that are not cluster events.
const (
	MoveRequest   = queue.MoveRequest
	BackoffFlush  = queue.BackoffFlush
	LeftoverFlush = queue.LeftoverFlush
)

// Injectables returns what Inject accepts: the queue's own actions, then the cluster events.
func Injectables() []string { return queue.InjectableNames() }

// preview pauses and starts to compute what each of the injectables would do.
func (o *owner) preview(wanted []string) {
	o.endPreview()
	if len(wanted) == 0 {
		return
	}
	o.halt()
	if !o.ensureEngine() {
		return
	}
	o.previews = o.shownTimeline().NewPreviews(wanted, o.now)
}

// endPreview discards the previews.
func (o *owner) endPreview() {
	if o.previews != nil {
		o.previews.Close()
		o.previews, o.changed = nil, true
	}
}

// injectNamed injects one of Injectables.
func (o *owner) injectNamed(name string) {
	switch name {
	case MoveRequest:
		o.moveAll()
	case BackoffFlush:
		o.flushBackoff()
	case LeftoverFlush:
		o.flushLeftover()
	default:
		o.injectEvent(name)
	}
}
