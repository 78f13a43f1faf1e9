//go:build watchonly

package cycle

import (
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/registered"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/follow"
)

// WatchOnly is true in a build without kube-scheduler.
const WatchOnly = true

// ErrWatchOnly is why no scheduler is there.
var ErrWatchOnly = errors.New("this schedq was built to watch only, and has no kube-scheduler to work that out with: take the whole schedq")

// Plugins answers the queue by what plugins registered for.
type Plugins = registered.Plugins

// What follows is what others read of package local's types of these names. There are no values of them.
type (
	Attempt struct {
		Pod                        *v1.Pod
		Skipped                    bool
		Node, Message, Nominated   string
		Evaluated, Feasible, Nodes int
		Reasons                    []Reason
		Binding                    *Binding
		Group                      *queue.GroupInfo
		Bindings                   []*Binding
		Evictions                  []*Eviction
	}
	Reason struct {
		Plugin, Text string
		Nodes        int
		Final        bool
	}
	Binding struct {
		Pod  *v1.Pod
		Node string
	}
	Eviction struct{ Victim *v1.Pod }
	Write    struct{ Object runtime.Object }
	Verdict  struct {
		Node    string
		Plugins []string
		Message string
		Reasons []Reason
	}
	Diagnosis struct {
		Nodes      int
		Fits       []string
		Message    string
		Reasons    []Reason
		Everywhere []Lack
		Nearest    []NodeLacks
	}
	NodeLacks struct {
		Node  string
		Lacks []Lack
	}
	Lack struct {
		Plugin           string
		Reasons, Details []string
		Final            bool
		Resources        []Shortage
	}
	Shortage struct {
		Resource                        v1.ResourceName
		Needs, Allocatable, Free, Lacks resource.Quantity
		Final                           bool
	}
)

// Scheduler hears of pods and has them queued, in the place of one that tries them.
type Scheduler struct {
	plugins *Plugins
	pods    *follow.Pods
}

// New returns ErrWatchOnly.
func New(*schedulerconfig.Config, uint64) (*Scheduler, error) { return nil, ErrWatchOnly }

// NewFollower returns the scheduler of a model that follows a scheduler at work: it makes no attempt, and whoever has it goes
// by what is seen of the real one's.
func NewFollower(cfg *schedulerconfig.Config) (*Scheduler, error) {
	plugins, err := PluginsOf(cfg)
	if err != nil {
		return nil, err
	}
	return &Scheduler{plugins: plugins, pods: follow.NewPods(profiles(cfg)...)}, nil
}

// Available returns why no scheduler can be run here.
func Available() error { return ErrWatchOnly }

// Check returns ErrWatchOnly.
func Check(*schedulerconfig.Config) error { return ErrWatchOnly }

// InTree returns the plugins of kube-scheduler's default profile, as its table of events has them.
func InTree() (*Plugins, error) {
	cfg, err := schedulerconfig.Default()
	if err != nil {
		return nil, err
	}
	return PluginsOf(cfg)
}

// PluginsOf returns the plugins of a scheduler with that configuration, as the table of its release has them.
func PluginsOf(cfg *schedulerconfig.Config) (*Plugins, error) {
	return registered.ByTable(cfg.Release, profiles(cfg)...)
}

func profiles(cfg *schedulerconfig.Config) []string {
	var names []string
	for _, p := range cfg.Profiles {
		names = append(names, p.SchedulerName)
	}
	return names
}

// MatchingVolume returns nil: no what-if asks it, for each has a scheduler take over.
func MatchingVolume(*v1.PersistentVolumeClaim, []*v1.PersistentVolume) *v1.PersistentVolume {
	return nil
}

// Plugins returns what the plugins tell a queue.
func (s *Scheduler) Plugins() *Plugins { return s.plugins }

// Drive makes q the queue that hears of pods.
func (s *Scheduler) Drive(q *queue.Queue) { s.pods.Queue = q }

// Close does nothing.
func (s *Scheduler) Close() {}

// Load takes an object as one that was there before.
func (s *Scheduler) Load(obj runtime.Object) error {
	if pod, ok := obj.(*v1.Pod); ok {
		return s.pods.Load(pod)
	}
	return nil
}

// Put has the queue hear at now that obj was added or changed.
func (s *Scheduler) Put(now time.Time, obj runtime.Object) error {
	if pod, ok := obj.(*v1.Pod); ok {
		return s.pods.Put(now, pod)
	}
	return nil
}

// Remove has the queue hear at now that obj is gone.
func (s *Scheduler) Remove(now time.Time, obj runtime.Object) error {
	if pod, ok := obj.(*v1.Pod); ok {
		s.pods.Remove(now, pod)
	}
	return nil
}

// Responsible reports whether pod asks for one of the scheduler's profiles.
func (s *Scheduler) Responsible(pod *v1.Pod) bool { return s.pods.Responsible(pod) }

// Waits reports whether pod is known and no node that it was bound to.
func (s *Scheduler) Waits(pod *v1.Pod) bool {
	known := s.pods.Get(pod)
	return known != nil && known.UID == pod.UID && known.Spec.NodeName == ""
}

// Renominate has the queue know that pod is nominated to node.
func (s *Scheduler) Renominate(_ time.Time, pod *v1.Pod, node string) {
	s.pods.Queue.AddNominatedPod(pod, node)
}

// Judge returns ErrWatchOnly.
func (*Scheduler) Judge(*v1.Pod) (Verdict, error) { return Verdict{}, ErrWatchOnly }

// Heard returns nil: nodes are not heard of.
func (*Scheduler) Heard(string) *v1.Node { return nil }

// Differs is false: no attempt is made.
func (*Scheduler) Differs(_, _ *v1.Node) bool { return false }

// WouldWake is false: which plugins rejected a pod is not known.
func (*Scheduler) WouldWake(*v1.Pod, runtime.Object, bool) bool { return false }

// Diagnose returns ErrWatchOnly.
func (*Scheduler) Diagnose(*v1.Pod, int) (*Diagnosis, error) { return nil, ErrWatchOnly }

// What follows is of attempts, bindings and evictions, of which there are none.

func (*Scheduler) Schedule(time.Time) (*Attempt, bool)        { return nil, false }
func (*Scheduler) Resume(time.Time, *v1.Pod) (*Attempt, bool) { return nil, false }
func (*Scheduler) Undo(*Attempt)                              {}
func (*Scheduler) PlaceOn(*Attempt, string) bool              { return false }
func (*Scheduler) Conclude(time.Time, *Attempt)               {}
func (*Scheduler) Bind(time.Time, *Binding) error             { return ErrWatchOnly }
func (*Scheduler) Fail(time.Time, *Binding, error)            {}
func (*Scheduler) Forget(*Binding)                            {}
func (*Scheduler) Confirm(*Binding)                           {}
func (*Scheduler) Writes() []Write                            { return nil }
func (*Scheduler) Evictions() []*Eviction                     { return nil }
func (*Scheduler) Evicted(*Eviction)                          {}
func (*Scheduler) Ending(*v1.Pod) bool                        { return false }
func (*Scheduler) Unload(runtime.Object) error                { return ErrWatchOnly }
