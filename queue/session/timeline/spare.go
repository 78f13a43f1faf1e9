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

// A scheduler over 1,000 nodes and 10,000 pods takes a quarter of a second to load, nearly all of it upstream's
// sums of what each pod requests. Whoever asks what would be if does not want to wait for that, so a spare one
// is loaded in the background, and when it is taken, only what changed since is loaded into it.

// spareObjects is from how many objects on a scheduler is loaded before anyone asks for it. Fewer take no more
// than some 20 ms.
const spareObjects = 1000

// spareShare bounds what is spent on keeping the spare near to the present: after it took some time, it is left
// alone for that many times as long.
const spareShare = 200

// Spare keeps the session's spare scheduler. At most one is there, and none while a scheduler runs in a what-if.
// It belongs to the owner; while one is being loaded, the goroutine that does it has the scheduler.
type Spare struct {
	Ready     *loaded      // nil if there is none, or it is being loaded
	Loading   chan *loaded // nil unless one is
	stop      chan struct{}
	NotBefore time.Time // before this it is not brought nearer to the present again
	moment    spareMoment
}

// spareMoment tells which moment's objects the spare has: of which timeline, after how many of its events and
// injections.
type spareMoment struct {
	line           *Timeline
	next, injected int
}

// loaded is a scheduler and the objects that it has.
type loaded struct {
	sched      *cycle.Scheduler
	cfg        *schedulerconfig.Config // what it was made with
	objects    cluster.Objects
	incomplete bool          // it could not take them all
	took       time.Duration // in real time
}

// Prepare loads the spare or brings it nearer to the present of t, in the background, if that is worth it now.
// resting is false while time rushes by: nobody asks what would be at such moments.
func (s *Spare) Prepare(t *Timeline, resting bool) {
	s.TakeOverLoaded(false)
	moment := spareMoment{t, t.Next, len(t.Injected)}
	if s.Loading != nil || !resting || moment == s.moment || t.Engine.Driver != nil ||
		t.Engine.Objects.Tree.Len() < spareObjects || time.Now().Before(s.NotBefore) {
		return
	}
	s.moment = moment
	if t.Engine.Objects.Count("Node") == 0 {
		return
	}
	from, to, cfg := s.Ready, t.Engine.Objects.Copy(), t.Engine.Config
	s.Ready, s.Loading, s.stop = nil, make(chan *loaded, 1), make(chan struct{})
	go func(done chan<- *loaded, stop <-chan struct{}) {
		l, _ := LoadOrAlign(from, cfg, to, stop) // whoever takes it hears of the error
		done <- l
	}(s.Loading, s.stop)
}

// TakeOverLoaded takes over the scheduler that is being loaded in the background, if it is loaded. With wait it waits
// until it is.
func (s *Spare) TakeOverLoaded(wait bool) {
	if s.Loading == nil {
		return
	}
	if !wait && len(s.Loading) == 0 {
		return
	}
	s.Ready, s.Loading = <-s.Loading, nil
	rest := time.Minute // it failed, and would again
	if s.Ready != nil {
		rest = spareShare * s.Ready.took
	}
	s.NotBefore = time.Now().Add(rest)
}

// takeScheduler returns a scheduler over objs: the spare, or a new one. It makes the same decisions either way.
func (s *Spare) takeScheduler(cfg *schedulerconfig.Config, objs cluster.Objects) (*cycle.Scheduler, error) {
	s.TakeOverLoaded(true)
	l, err := LoadOrAlign(s.Ready, cfg, objs, nil)
	s.Ready, s.moment = nil, spareMoment{}
	if err != nil {
		return nil, err
	}
	return l.sched, nil
}

// Borrow calls use with a scheduler that has the objects of e. It is kept for the next caller.
func (s *Spare) Borrow(e *Engine, use func(*cycle.Scheduler) error) error {
	s.TakeOverLoaded(true)
	l, err := LoadOrAlign(s.Ready, e.Config, e.Objects.Copy(), nil)
	s.Ready, s.moment = l, spareMoment{}
	if err != nil {
		return err
	}
	return use(l.sched)
}

// With calls use with a scheduler of another configuration or with other objects.
func With(cfg *schedulerconfig.Config, objects cluster.Objects, use func(*cycle.Scheduler) error) error {
	l, err := LoadOrAlign(nil, cfg, objects, nil)
	if err != nil {
		return err
	}
	defer l.sched.Close()
	return use(l.sched)
}

// Close ends the spare and what loads it.
func (s *Spare) Close() {
	if s.Loading != nil {
		close(s.stop)
	}
	s.TakeOverLoaded(true)
	if s.Ready != nil {
		s.Ready.sched.Close()
		s.Ready = nil
	}
}

// LoadOrAlign returns a scheduler that has the objects to. It is from, aligned; or a new one, if from is nil, of another
// configuration or can't be aligned. It is nil once stop is closed.
func LoadOrAlign(from *loaded, cfg *schedulerconfig.Config, to cluster.Objects, stop <-chan struct{}) (*loaded, error) {
	began := time.Now()
	if from != nil {
		if from.cfg == cfg && from.Align(to) {
			from.took = time.Since(began)
			return from, nil
		}
		from.sched.Close()
	}
	sched, err := cycle.New(cfg, 0)
	if err != nil {
		return nil, err
	}
	l := &loaded{sched: sched, cfg: cfg, objects: to}
	to.Each("", func(obj runtime.Object) bool {
		select {
		case <-stop:
			l = nil
			return false
		default:
		}
		if sched.Load(obj) != nil { // what it can't take, it does not know: two pods with one UID
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

// Align gives the scheduler other objects, so that it decides in all as a new one over them would: where it counts in
// which order objects came, as among the nodes and among the pods of a node, that is the order of their names again.
// It returns false if loading anew is simpler. Then the scheduler is of no use any more.
func (l *loaded) Align(to cluster.Objects) bool {
	if l.incomplete {
		return false
	}
	nodes, same := map[string]bool{}, true // whose pods are loaded anew
	pairs(l.objects, to, func(old, obj runtime.Object) {
		if old == obj {
			return
		}
		nodes[nodeOf(old)], nodes[nodeOf(obj)] = true, true
		if isNode(old) != isNode(obj) || isNode(obj) && !maps.Equal(old.(*v1.Node).Labels, obj.(*v1.Node).Labels) {
			same = false // upstream orders them by their zones, in turn
		}
	})
	if !same {
		return false
	}
	if len(nodes) == 0 {
		return true
	}
	delete(nodes, "")
	var gone, came []runtime.Object
	pairs(l.objects, to, func(old, obj runtime.Object) {
		if old == obj && !nodes[nodeOf(obj)] {
			return
		}
		if old != nil && !isNode(old) { // a node that changed keeps its place
			gone = append(gone, old)
		}
		if obj != nil {
			came = append(came, obj)
		}
	})
	for _, obj := range gone { // before any comes: upstream's volume caches take no version that is older
		if l.sched.Unload(obj) != nil {
			return false
		}
	}
	for _, obj := range came {
		if l.sched.Load(obj) != nil {
			return false
		}
	}
	l.objects = to
	return true
}

// nodeOf returns the node that obj runs on, if it is a pod that runs.
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

// pairs calls each with every object of either, in the order of their names; nil where one has none.
func pairs(from, to cluster.Objects, each func(old, obj runtime.Object)) {
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
