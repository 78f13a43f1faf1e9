package cycle

// Package local is kube-scheduler v1.37 without a cluster: upstream's scheduler, whole, with its event handlers, caches, plugins and failure
// handling, over objects that are put into it by hand. It drives our queue, tells the queue what its plugins say, and places one pod at a time. It
// starts nothing by itself, knows no clock, and whatever it writes goes to whoever owns it, never out of the process.

import (
	"context"
	"errors"
	"fmt"
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

// Scheduler is one local kube-scheduler. It has one owner and is not safe for concurrent use.
type Scheduler struct {
	upstream *scheduler.Scheduler
	profiles map[string]framework.Framework
	plugins  *Plugins
	snapshot *internalcache.Snapshot
	watches  *watches
	api      *api
	queue    *queue.Queue
	pods     map[types.UID]types.NamespacedName // those that the scheduler knows
	now      time.Time
	loading  bool
	deaf     bool // what wakes pods wakes none

	stop      context.CancelFunc
	stopped   <-chan struct{}
	preemptor types.UID // of the preemption that is being worked out
	least     map[string]least
	nobody    atomic.Pointer[selection] // what upstream says of a node where there is nobody to preempt
	nominees  nominees
	budgets   uint64 // counts changes of disruption budgets
	// percentage of nodes to score, unless a profile has its own
	percentage int32
	evictions  chan *Eviction // from upstream's goroutines
	goroutines chan struct{}  // tells one of them to go on
	underway   []*Eviction
	// gatesUntilEvicted is the configuration's GatesUntilEvicted, freesAssumed its FreesAssumed, and asyncPreemption its AsyncPreemption, unless
	// the feature gate is off.
	gatesUntilEvicted, freesAssumed, asyncPreemption bool
	wording                                          Wording
}

// New returns a scheduler over an empty cluster. seed breaks ties between nodes: the same objects in the same order and the same seed give the same
// decisions. Drive must follow, and Close when it is not needed any more.
func New(cfg *schedulerconfig.Config, seed uint64) (*Scheduler, error) {
	a := &api{}
	client, err := a.client()
	if err != nil {
		return nil, fmt.Errorf("can't set kube-scheduler up: %w", err)
	}
	a.watches = newWatches(client)
	ctx, stop := context.WithCancel(quiet(context.Background()))
	s := &Scheduler{
		snapshot: internalcache.NewEmptySnapshot(), watches: a.watches, api: a, stop: stop,
		profiles: map[string]framework.Framework{}, pods: map[types.UID]types.NamespacedName{}, evictions: make(chan *Eviction), goroutines: make(chan struct{}),
		stopped: ctx.Done(), least: map[string]least{}, gatesUntilEvicted: cfg.GatesUntilEvicted(), freesAssumed: cfg.FreesAssumed(),
		asyncPreemption: cfg.AsyncPreemption() && utilfeature.DefaultFeatureGate.Enabled(features.SchedulerAsyncPreemption),
		wording:         Wording{Minor: cfg.Minor()},
	}
	a.now = &s.now
	if p := cfg.PercentageOfNodesToScore; p != nil {
		s.percentage = *p
	}
	extenders := scaledExtenders(cfg.Extenders)
	s.upstream, err = scheduler.New(ctx, client, a.watches.factory, nil,
		func(string) events.EventRecorderLogger { return silent{} },
		scheduler.WithProfiles(modelledProfiles(cfg)...),
		scheduler.WithExtenders(extenders...),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		scheduler.WithParallelism(int32(workers())),
		scheduler.WithNodeInfoSnapshot(s.snapshot),
	)
	if err != nil {
		stop()
		return nil, fmt.Errorf("kube-scheduler does not start with this configuration: %w", err)
	}
	if s.plugins, err = PluginsIn(ctx, s.upstream.Profiles, cfg.Profiles[0].SchedulerName, cfg.Release); err != nil {
		stop()
		return nil, err
	}
	s.upstream.SchedulingQueue = queueAdapter{s}
	for name, f := range s.upstream.Profiles {
		f.SetPodNominator(queueAdapter{s})
		f.SetPodActivator(inactive{})
		s.redirectPreemption(f, seed)
		s.profiles[name] = seeded{f, s, seed, &search{workers: workers()}, newMemory(f)}
	}
	return s, nil
}

// Plugins returns what the scheduler's plugins tell a queue.
func (s *Scheduler) Plugins() *Plugins { return s.plugins }

// Drive makes q the scheduler's queue. It must have been made with Plugins.
func (s *Scheduler) Drive(q *queue.Queue) { s.queue = q }

// Close ends the scheduler. It must not be used any more.
func (s *Scheduler) Close() {
	s.stop() // which ends upstream's goroutines, those of preemptions too
	s.underway = nil
}

// Load puts an object into the scheduler's caches as one that was there before. The queue is left alone.
func (s *Scheduler) Load(obj runtime.Object) error {
	s.loading = true
	defer func() { s.loading = false }()
	return s.put(obj)
}

// Unload takes an object back that was loaded, as one that never was there. The queue is left alone.
func (s *Scheduler) Unload(obj runtime.Object) error {
	s.loading = true
	defer func() { s.loading = false }()
	return s.remove(obj)
}

// Put tells the scheduler at now that obj was added or changed, and with what that means to its queue.
// Kinds that it does not watch are ignored.
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

// putPod keeps out what upstream's cache takes for its own corruption, upon which it ends the process: a
// pod that is on another node than before, or that has another pod's UID.
func (s *Scheduler) putPod(i *informer, pod *v1.Pod) error {
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	if known, ok := s.pods[pod.UID]; ok && known != key {
		return fmt.Errorf("pods %s and %s have the same UID %s: the second is left out", known, key, sources.Sanitize(string(pod.UID)))
	}
	// Upstream's watch selects pods that are not terminal: others go.
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
		pod = old // the scheduler never heard of what it was at last
	}
	if assumed, err := s.upstream.Cache.IsAssumedPod(pod); err == nil && assumed && !s.freesAssumed {
		return s.removeAssumed(i, pod)
	}
	return i.remove(pod)
}

// removeAssumed removes a pod that keeps its place until its binding has failed: see FreesAssumed of the configuration.
func (s *Scheduler) removeAssumed(i *informer, pod *v1.Pod) error {
	assumed, err := s.upstream.Cache.GetPod(pod)
	if err != nil {
		return err
	}
	s.deaf = true // the handler frees the place, and wakes pods for that
	err = i.remove(pod)
	s.deaf = false
	return errors.Join(err, s.upstream.Cache.AssumePod(klog.Logger{}, assumed))
}

// Remove tells the scheduler at now that obj is gone. Objects it does not have are ignored.
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

// Writes returns what was written since the last call.
func (s *Scheduler) Writes() []Write { return s.api.takeWrites() }

// Responsible reports whether pod asks for one of the scheduler's profiles.
func (s *Scheduler) Responsible(pod *v1.Pod) bool {
	_, ok := s.profiles[pod.Spec.SchedulerName]
	return ok
}

// Waits reports whether the scheduler knows pod and has heard of no node that it was bound to. A pod that does
// not wait is never returned to the queue (schedule_one.go, handleSchedulingFailure).
func (s *Scheduler) Waits(pod *v1.Pod) bool {
	known, ok := s.watches.get(pod, pod.Namespace, pod.Name).(*v1.Pod)
	return ok && known.UID == pod.UID && known.Spec.NodeName == ""
}

// Check reports whether a scheduler can be set up with cfg.
func Check(cfg *schedulerconfig.Config) error {
	s, err := New(cfg, 0)
	if err != nil {
		return err
	}
	s.Close()
	return nil
}
