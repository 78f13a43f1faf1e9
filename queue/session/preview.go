package session

import "github.com/schedq/schedq/queue"

// What Inject takes beside the cluster events.
const (
	MoveRequest   = queue.MoveRequest
	BackoffFlush  = queue.BackoffFlush
	LeftoverFlush = queue.LeftoverFlush
)

// Injectables returns what Inject takes: what the queue does of itself, and then the cluster events.
func Injectables() []string { return queue.InjectableNames() }

// preview pauses and begins to work out what each of the injectables would do.
func (o *owner) preview(wanted []string) {
	o.endPreview()
	if len(wanted) == 0 {
		return
	}
	o.still()
	if !o.hasEngine() {
		return
	}
	o.previews = o.shownLine().NewPreviews(wanted, o.now)
}

// endPreview forgets what previews there are.
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
