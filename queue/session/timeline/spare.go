package timeline

import (
	"maps"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
)

// minSpareObjects is the number of objects from which on a spare scheduler is loaded. Fewer load within 20 ms.
const minSpareObjects = 1000

// spareRest limits the work of keeping the spare up to date: after an update, none starts for spareRest times as long as it
// took.
const spareRest = 200

// Spare loads a scheduler in the background for the next what-if, so that the user need not wait: with 1,000 nodes and
// 10,000 pods that takes a quarter of a second, nearly all of it for upstream's sums of the pods' requests. When the spare
// is taken, it only loads the objects that changed since.
//
// There is at most one, and none while a scheduler runs in a what-if. Its methods must be called from one goroutine.
type Spare struct {
	Ready     *loadedScheduler      // nil if there is none, or while it is loading
	Loading   chan *loadedScheduler // receives it once it is loaded; nil unless one is loading
	stop      chan struct{}         // closed to stop loading
	NotBefore time.Time             // the real time before which it is not updated again
	state     spareState
}

// spareState identifies the objects that the spare has: a timeline's, after that many of its events and injections.
type spareState struct {
	timeline       *Timeline
	next, injected int
}

// loadedScheduler is a scheduler and the objects that it has loaded.
type loadedScheduler struct {
	sched      *cycle.Scheduler
	cfg        *schedulerconfig.Config // the one it was created with
	objects    cluster.Objects
	incomplete bool          // it rejected some of them
	took       time.Duration // the real time that loading took
}

// Prepare loads the spare or updates it to the objects of t in the background, unless that is not worth it now. resting is
// false during fast playback, when nobody starts a what-if.
func (s *Spare) Prepare(t *Timeline, resting bool) {
	s.Receive(false)
	state := spareState{t, t.Next, len(t.Injected)}
	if s.Loading != nil || !resting || state == s.state || t.Engine.Driver != nil ||
		t.Engine.Objects.Tree.Len() < minSpareObjects || time.Now().Before(s.NotBefore) {
		return
	}
	s.state = state
	if t.Engine.Objects.Count("Node") == 0 {
		return
	}
	from, to, cfg := s.Ready, t.Engine.Objects.Copy(), t.Engine.Config
	s.Ready, s.Loading, s.stop = nil, make(chan *loadedScheduler, 1), make(chan struct{})
	go func(done chan<- *loadedScheduler, stop <-chan struct{}) {
		l, _ := LoadOrUpdate(from, cfg, to, stop) // takeScheduler and Borrow repeat it and return the error
		done <- l
	}(s.Loading, s.stop)
}

// Receive receives the scheduler that is loading in the background, once it is loaded. If wait is set, it waits for that.
func (s *Spare) Receive(wait bool) {
	if s.Loading == nil {
		return
	}
	if !wait && len(s.Loading) == 0 {
		return
	}
	s.Ready, s.Loading = <-s.Loading, nil
	rest := time.Minute // after an error, which would occur again
	if s.Ready != nil {
		rest = spareRest * s.Ready.took
	}
	s.NotBefore = time.Now().Add(rest)
}

// takeScheduler returns a scheduler that has objs: the spare, or a new one. Both make the same decisions.
func (s *Spare) takeScheduler(cfg *schedulerconfig.Config, objs cluster.Objects) (*cycle.Scheduler, error) {
	s.Receive(true)
	l, err := LoadOrUpdate(s.Ready, cfg, objs, nil)
	s.Ready, s.state = nil, spareState{}
	if err != nil {
		return nil, err
	}
	return l.sched, nil
}

// Borrow calls use with a scheduler that has the objects of e, and keeps it as the spare.
func (s *Spare) Borrow(e *Engine, use func(*cycle.Scheduler) error) error {
	s.Receive(true)
	l, err := LoadOrUpdate(s.Ready, e.Config, e.Objects.Copy(), nil)
	s.Ready, s.state = l, spareState{}
	if err != nil {
		return err
	}
	return use(l.sched)
}

// With calls use with a scheduler of another configuration or with other objects.
func With(cfg *schedulerconfig.Config, objects cluster.Objects, use func(*cycle.Scheduler) error) error {
	l, err := LoadOrUpdate(nil, cfg, objects, nil)
	if err != nil {
		return err
	}
	defer l.sched.Close()
	return use(l.sched)
}

// Close closes the spare and stops loading.
func (s *Spare) Close() {
	if s.Loading != nil {
		close(s.stop)
	}
	s.Receive(true)
	if s.Ready != nil {
		s.Ready.sched.Close()
		s.Ready = nil
	}
}

// LoadOrUpdate returns a scheduler that has the objects to: from, updated, or a new one if from is nil, has another
// configuration or can't be updated. It returns nil once stop is closed.
func LoadOrUpdate(from *loadedScheduler, cfg *schedulerconfig.Config, to cluster.Objects, stop <-chan struct{}) (*loadedScheduler, error) {
	began := time.Now()
	if from != nil {
		if from.cfg == cfg && from.Update(to) {
			from.took = time.Since(began)
			return from, nil
		}
		from.sched.Close()
	}
	sched, err := cycle.New(cfg, 0)
	if err != nil {
		return nil, err
	}
	l := &loadedScheduler{sched: sched, cfg: cfg, objects: to}
	to.Each("", func(obj runtime.Object) bool {
		select {
		case <-stop:
			l = nil
			return false
		default:
		}
		if sched.Load(obj) != nil { // such as a second pod with the same UID
			l.incomplete = true
		}
		return true
	})
	if l == nil {
		sched.Close()
		return nil, nil
	}
	l.took = time.Since(began)
	return l, nil
}

// Update replaces the scheduler's objects by to, so that it makes the decisions that a new scheduler would. Where upstream
// depends on the order in which objects were added, as among nodes and among the pods of a node, that is the order of their
// names again. It returns false if loading a new scheduler is simpler; then this one must not be used.
func (l *loadedScheduler) Update(to cluster.Objects) bool {
	if l.incomplete {
		return false
	}
	changed, sameOrder := map[string]bool{}, true // nodes whose pods must be loaded again
	eachPair(l.objects, to, func(old, obj runtime.Object) {
		if old == obj {
			return
		}
		changed[nodeOf(old)], changed[nodeOf(obj)] = true, true
		if isNode(old) != isNode(obj) || isNode(obj) && !maps.Equal(old.(*v1.Node).Labels, obj.(*v1.Node).Labels) {
			sameOrder = false // upstream's node order alternates between zones
		}
	})
	if !sameOrder {
		return false
	}
	if len(changed) == 0 {
		return true
	}
	delete(changed, "")
	var unload, load []runtime.Object
	eachPair(l.objects, to, func(old, obj runtime.Object) {
		if old == obj && !changed[nodeOf(obj)] {
			return
		}
		if old != nil && !isNode(old) { // a node that changed keeps its place
			unload = append(unload, old)
		}
		if obj != nil {
			load = append(load, obj)
		}
	})
	for _, obj := range unload { // first: upstream's volume caches reject older versions
		if l.sched.Unload(obj) != nil {
			return false
		}
	}
	for _, obj := range load {
		if l.sched.Load(obj) != nil {
			return false
		}
	}
	l.objects = to
	return true
}

// nodeOf returns the node of obj if it is a bound pod, and else "".
func nodeOf(obj runtime.Object) string {
	if pod, ok := obj.(*v1.Pod); ok {
		return pod.Spec.NodeName
	}
	return ""
}

func isNode(obj runtime.Object) bool {
	_, ok := obj.(*v1.Node)
	return ok
}

// eachPair calls each with every object of either set, sorted by name, and nil for an object that the other set lacks.
func eachPair(from, to cluster.Objects, each func(old, obj runtime.Object)) {
	a, b := from.Tree.Iter(), to.Tree.Iter()
	defer a.Release()
	defer b.Release()
	moreA, moreB := a.First(), b.First()
	for moreA || moreB {
		var old, obj runtime.Object
		first, second := moreA, moreB
		if moreA && moreB {
			first, second = !from.Tree.Less(b.Item(), a.Item()), !from.Tree.Less(a.Item(), b.Item())
		}
		if first {
			old = a.Item().Obj
			moreA = a.Next()
		}
		if second {
			obj = b.Item().Obj
			moreB = b.Next()
		}
		each(old, obj)
	}
}
