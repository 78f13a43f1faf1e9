// Package replacement puts this project's queue in the place of kube-scheduler's own: in upstream's scheduler, with its
// plugins and its informers, in a program that is made for that (e2e/kube-scheduler is one).
//
// The queue is queue/classic's, behind upstream's interface SchedulingQueue. It writes upstream's log lines of each move, and the
// metrics scheduler_pending_pods and scheduler_queue_incoming_pods_total. docs/development/embedding.md says what upstream's queue does besides.
package replacement

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	apicache "k8s.io/kubernetes/pkg/scheduler/backend/api_cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/classic"
	"github.com/schedq/schedq/queue/cycle"
)

// Settings are what a Scheduler does not say of itself.
type Settings struct {
	// Pods is the lister of the informers that the scheduler was made with.
	Pods listersv1.PodLister
	// PodInitialBackoff and PodMaxBackoff are the configuration's podInitialBackoffSeconds and podMaxBackoffSeconds.
	PodInitialBackoff, PodMaxBackoff int64
	// PodMaxInUnschedulablePods is the flag of that name.
	PodMaxInUnschedulablePods time.Duration
}

// unmodelled are feature gates with which upstream's queue does what this one can't.
var unmodelled = [...]featuregate.Feature{features.CompositePodGroup, features.InPlacePodVerticalScalingSchedulerPreemption}

// Install gives s a queue of this project in the place of its own. It must be called before s is run and before its informers are
// started. It fails, and leaves s as it is, if s has a queue sort plugin or a feature gate that the queue can't obey.
func Install(ctx context.Context, s *scheduler.Scheduler, settings Settings) error {
	for _, gate := range unmodelled {
		if utilfeature.DefaultFeatureGate.Enabled(gate) {
			return fmt.Errorf("the feature gate %s is on, which this queue does not know: turn it off", gate)
		}
	}
	for name, profile := range s.Profiles {
		for _, plugin := range profile.ListPlugins().QueueSort.Enabled {
			if plugin.Name != queuesort.Name {
				return fmt.Errorf("profile %s sorts its queue by the plugin %s: this queue sorts by %s alone", name, plugin.Name, queuesort.Name)
			}
		}
	}
	if len(s.Profiles) == 0 {
		return errors.New("the scheduler has no profile")
	}
	plugins, err := cycle.PluginsIn(ctx, s.Profiles, slices.Min(slices.Collect(maps.Keys(s.Profiles))), "")
	if err != nil {
		return err
	}
	q := newQueue(s, settings.Pods)
	q.Queue = classic.New(queue.Options{
		PodInitialBackoff:         time.Duration(settings.PodInitialBackoff) * time.Second,
		PodMaxBackoff:             time.Duration(settings.PodMaxBackoff) * time.Second,
		PodMaxInUnschedulablePods: settings.PodMaxInUnschedulablePods,
		PopFromBackoffQ:           utilfeature.DefaultFeatureGate.Enabled(features.SchedulerPopFromBackoffQ),
		GenericWorkload:           utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload),
	}, classic.WithPlugins(plugins), classic.WithLog(logged{klog.FromContext(ctx)}))

	// All that scheduler.New gives its own queue to, but for the debugger that SIGUSR2 wakes.
	s.SchedulingQueue, s.NextEntity = q, q.Pop
	var cacher fwk.APICacher
	if s.APIDispatcher != nil {
		cacher = apicache.New(q, s.Cache)
	}
	for _, profile := range s.Profiles {
		profile.SetPodNominator(q)
		profile.SetPodActivator(q)
		profile.SetAPICacher(cacher)
	}
	return nil
}

var _ internalqueue.SchedulingQueue = adapter{}
