package live

import (
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// notedWatch is a watch that reports its end and its errors.
type notedWatch struct {
	watch.Interface
	results chan watch.Event
	stopped chan struct{}
	end     func()
	failed  func(error)
	came    func(runtime.Object)
	within  time.Duration
	late    *time.Timer // used by hand only
}

// noteWatch wraps w. It calls ended once, when w ends, before its channel is closed, or when it is stopped; failed with
// each error that w delivers, such as an event that can't be decoded; and came with each object. w is stopped if no
// event arrives for within before the first bookmark, which ends a streamed list; 0 means no limit.
func noteWatch(w watch.Interface, within time.Duration, ended func(), failed func(error), came func(runtime.Object)) watch.Interface {
	n := &notedWatch{Interface: w, results: make(chan watch.Event), stopped: make(chan struct{}), failed: failed, came: came, within: within}
	n.end = sync.OnceFunc(func() {
		ended()
		close(n.stopped)
	})
	go n.hand()
	return n
}

// hand forwards the events of the watch until it ends.
func (n *notedWatch) hand() {
	defer close(n.results)
	defer n.end()
	if n.within > 0 {
		late := time.AfterFunc(n.within, func() {
			n.failed(errSilent)
			n.Interface.Stop()
		})
		defer late.Stop()
		n.late = late
	}
	for ev := range n.Interface.ResultChan() {
		switch {
		case n.late == nil:
		case ev.Type == watch.Bookmark:
			n.late.Stop()
			n.late = nil
		default:
			n.late.Reset(n.within)
		}
		if ev.Type == watch.Error {
			n.failed(apierrors.FromObject(ev.Object))
		} else {
			n.came(ev.Object)
		}
		select {
		case n.results <- ev:
		case <-n.stopped:
			return
		}
	}
}

// ResultChan implements watch.Interface.
func (n *notedWatch) ResultChan() <-chan watch.Event { return n.results }

// Stop implements watch.Interface.
func (n *notedWatch) Stop() {
	n.end()
	n.Interface.Stop()
}
