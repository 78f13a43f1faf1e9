// Package cycle runs kube-scheduler v1.37 without a cluster.
//
// A [Scheduler] contains upstream's complete scheduler, with its event handlers, caches, plugins and failure handler.
// Its owner sets the objects, calls Schedule for each attempt, and receives the writes, which never leave the process.
// The scheduler drives a queue.Queue, whose plugins are upstream's. It has no clock and starts nothing by itself, and
// replaces upstream's random choices with a seed, so that runs are repeatable.
package cycle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/sources"
)

// Scheduler is a kube-scheduler without a cluster. It is not safe for concurrent use.
type Scheduler struct {
	upstream *scheduler.Scheduler
	profiles map[string]framework.Framework
	plugins  *Plugins
	snapshot *internalcache.Snapshot
	watches  *watches
	api      *api
	queue    *queue.Queue
	pods     map[types.UID]types.NamespacedName // known pods
	now      time.Time
	loading  bool // do not change the queue
	// eventsOff suppresses move requests.
	eventsOff bool

	stop      func() // closes stopped
	stopped   chan struct{}
	preemptor types.UID // of the current preemption
	lowest    map[string]lowestPriority
	noVictims atomic.Pointer[selection] // upstream's result for a node without possible victims
	nominees  nominees
	budgets   uint64 // counts changes of disruption budgets
	// percentage is PercentageOfNodesToScore, unless a profile overrides it.
	percentage int32
	evictions  chan *Eviction // from upstream's goroutines
	goroutines chan struct{}  // resumes one of these goroutines
	running    []*Eviction
	// See the methods of schedulerconfig.Config. asyncPreemption also requires the feature gate.
	gatesUntilEvicted, freesAssumed, asyncPreemption bool
	wording                                          wording
	watch                                            func(*Scheduler, *queue.PodInfo) // may be nil
}

// New returns a scheduler over an empty cluster. seed breaks ties between nodes: the same objects in the same order and
// the same seed give the same decisions. The caller must call Drive next, and Close in the end.
func New(cfg *schedulerconfig.Config, seed uint64) (*Scheduler, error) {
	a := &api{}
	client, err := a.client()
	if err != nil {
		return nil, fmt.Errorf("setting up kube-scheduler: %w", err)
	}
	a.watches = newWatches(client)
	// Upstream's goroutines export metrics, write Events and await signals. None is of use here, so all end with New, and
	// a scheduler without a running preemption is nothing but memory.
	ctx, cancel := context.WithCancel(quiet(context.Background()))
	defer unsubscribe()
	defer cancel()
	stopped := make(chan struct{})
	s := &Scheduler{
		snapshot: internalcache.NewEmptySnapshot(), watches: a.watches, api: a,
		profiles: map[string]framework.Framework{}, pods: map[types.UID]types.NamespacedName{}, evictions: make(chan *Eviction), goroutines: make(chan struct{}),
		stop: sync.OnceFunc(func() { close(stopped) }), stopped: stopped, lowest: map[string]lowestPriority{}, gatesUntilEvicted: cfg.GatesUntilEvicted(), freesAssumed: cfg.FreesAssumed(),
		asyncPreemption: cfg.AsyncPreemption() && utilfeature.DefaultFeatureGate.Enabled(features.SchedulerAsyncPreemption),
		wording:         wording{minor: cfg.Minor()},
	}
	a.now = &s.now
	if p := cfg.PercentageOfNodesToScore; p != nil {
		s.percentage = *p
	}
	extenders := scaledExtenders(cfg.Extenders)
	s.upstream, err = scheduler.New(ctx, client, a.watches.factory, nil,
		func(string) events.EventRecorderLogger { return noRecorder{} },
		scheduler.WithProfiles(modelledProfiles(cfg)...),
		scheduler.WithExtenders(extenders...),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		scheduler.WithParallelism(int32(workers())),
		scheduler.WithNodeInfoSnapshot(s.snapshot),
	)
	if err != nil {
		return nil, fmt.Errorf("kube-scheduler does not start with this configuration: %w", err)
	}
	if s.plugins, err = PluginsIn(ctx, s.upstream.Profiles, cfg.Profiles[0].SchedulerName, cfg.Release); err != nil {
		return nil, err
	}
	s.upstream.SchedulingQueue = queueAdapter{s}
	for i := range cfg.Profiles {
		name := cfg.Profiles[i].SchedulerName
		f := s.upstream.Profiles[name]
		f.SetPodNominator(queueAdapter{s})
		f.SetPodActivator(noActivator{})
		s.redirectPreemption(f, seed)
		s.profiles[name] = seeded{f, s, seed, &search{workers: workers()}, newMemory(f), newOlderBalance(&cfg.Profiles[i], s.wording.minor)}
	}
	return s, nil
}

// Plugins returns the scheduler's plugins, for its queue.
func (s *Scheduler) Plugins() *Plugins { return s.plugins }

// Drive sets the scheduler's queue, which must use Plugins.
func (s *Scheduler) Drive(q *queue.Queue) { s.queue = q }

// WatchAttempts makes the scheduler call watch before each attempt, after the pod is popped. watch may be nil.
func (s *Scheduler) WatchAttempts(watch func(*Scheduler, *queue.PodInfo)) { s.watch = watch }

// Close ends the scheduler's preemptions. The scheduler must not be used afterwards.
func (s *Scheduler) Close() {
	s.stop()
	s.running = nil
}

// Load adds an object to the scheduler's caches without changing the queue.
func (s *Scheduler) Load(obj runtime.Object) error {
	s.loading = true
	defer func() { s.loading = false }()
	return s.put(obj)
}

// Unload removes an object from the scheduler's caches without changing the queue.
func (s *Scheduler) Unload(obj runtime.Object) error {
	s.loading = true
	defer func() { s.loading = false }()
	return s.remove(obj)
}

// Put adds or updates an object, which can change the queue. It ignores types that the scheduler does not watch.
func (s *Scheduler) Put(now time.Time, obj runtime.Object) error {
	s.now = now
	return s.put(obj)
}

func (s *Scheduler) put(obj runtime.Object) error {
	i := s.watches.informerOf(obj)
	if i == nil {
		return nil
	}
	switch obj := obj.(type) {
	case *v1.Pod:
		return s.putPod(i, obj)
	case *policyv1.PodDisruptionBudget:
		s.budgets++
	}
	return i.put(obj)
}

// putPod prevents updates that upstream's cache takes for corruption, for which it ends the process: a pod that moved
// to another node, or has another pod's UID.
func (s *Scheduler) putPod(i *informer, pod *v1.Pod) error {
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	if known, ok := s.pods[pod.UID]; ok && known != key {
		return fmt.Errorf("pods %s and %s have the same UID %s: ignoring the second", known, key, sources.Sanitize(string(pod.UID)))
	}
	// Upstream's watch excludes terminal pods.
	if pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed {
		return s.removePod(i, pod)
	}
	if old, ok := s.watches.get(pod, pod.Namespace, pod.Name).(*v1.Pod); ok &&
		(old.UID != pod.UID || old.Spec.NodeName != "" && old.Spec.NodeName != pod.Spec.NodeName) {
		if err := s.removePod(i, old); err != nil {
			return err
		}
	}
	s.pods[pod.UID] = key
	return i.put(pod)
}

func (s *Scheduler) removePod(i *informer, pod *v1.Pod) error {
	old, ok := s.watches.get(pod, pod.Namespace, pod.Name).(*v1.Pod)
	if !ok {
		return nil
	}
	delete(s.pods, old.UID)
	if old.UID != pod.UID || old.Spec.NodeName != pod.Spec.NodeName {
		pod = old // the scheduler does not know pod's last state
	}
	if assumed, err := s.upstream.Cache.IsAssumedPod(pod); err == nil && assumed && !s.freesAssumed {
		return s.removeAssumed(i, pod)
	}
	return i.remove(pod)
}

// removeAssumed removes an assumed pod that occupies its node until its binding fails: see
// schedulerconfig.Config.FreesAssumed.
func (s *Scheduler) removeAssumed(i *informer, pod *v1.Pod) error {
	assumed, err := s.upstream.Cache.GetPod(pod)
	if err != nil {
		return err
	}
	s.eventsOff = true // the handler frees the node and makes a move request
	err = i.remove(pod)
	s.eventsOff = false
	return errors.Join(err, s.upstream.Cache.AssumePod(klog.Logger{}, assumed))
}

// Remove deletes an object, which can change the queue. It ignores unknown objects.
func (s *Scheduler) Remove(now time.Time, obj runtime.Object) error {
	s.now = now
	return s.remove(obj)
}

func (s *Scheduler) remove(obj runtime.Object) error {
	i := s.watches.informerOf(obj)
	if i == nil {
		return nil
	}
	switch obj := obj.(type) {
	case *v1.Pod:
		return s.removePod(i, obj)
	case *policyv1.PodDisruptionBudget:
		s.budgets++
	}
	return i.remove(obj)
}

// Writes returns the writes since the last call.
func (s *Scheduler) Writes() []Write { return s.api.takeWrites() }

// Responsible reports whether pod's scheduler name is one of the scheduler's profiles.
func (s *Scheduler) Responsible(pod *v1.Pod) bool {
	_, ok := s.profiles[pod.Spec.SchedulerName]
	return ok
}

// Waits reports whether the scheduler knows pod as unassigned. Upstream returns only such pods to the queue
// (handleSchedulingFailure in schedule_one.go).
func (s *Scheduler) Waits(pod *v1.Pod) bool {
	known, ok := s.watches.get(pod, pod.Namespace, pod.Name).(*v1.Pod)
	return ok && known.UID == pod.UID && known.Spec.NodeName == ""
}

// Check returns an error if kube-scheduler does not start with cfg.
func Check(cfg *schedulerconfig.Config) error {
	s, err := New(cfg, 0)
	if err != nil {
		return err
	}
	s.Close()
	return nil
}
