package live

import (
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

// noted is a watch of which it is noted when it ends.
type notedWatch struct {
	watch.Interface
	results chan watch.Event
	stopped chan struct{}
	end     func()
}

// Noted returns w, and has ended be called once: when w ends, before its channel is closed, or when it is stopped.
func noteWatch(w watch.Interface, ended func()) watch.Interface {
	n := &notedWatch{Interface: w, results: make(chan watch.Event), stopped: make(chan struct{})}
	n.end = sync.OnceFunc(func() {
		ended()
		close(n.stopped)
	})
	go n.hand()
	return n
}

// hand hands on what the watch tells until it ends.
func (n *notedWatch) hand() {
	defer close(n.results)
	defer n.end()
	for ev := range n.Interface.ResultChan() {
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
