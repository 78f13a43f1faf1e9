// Package replacement replaces the queue of upstream's kube-scheduler by this project's, in a program that
// embeds both, such as e2e/kube-scheduler. Plugins and informers remain upstream's.
//
// It adapts queue/classic to upstream's interface SchedulingQueue. It writes upstream's log lines of each
// move, and the metrics scheduler_pending_pods and scheduler_queue_incoming_pods_total.
// docs/development/embedding.md lists the differences from upstream's queue.
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

// Settings are what a Scheduler does not expose.
type Settings struct {
	// Pods is the lister of the scheduler's informers.
	Pods listersv1.PodLister
	// PodInitialBackoff and PodMaxBackoff are the configuration's podInitialBackoffSeconds and podMaxBackoffSeconds.
	PodInitialBackoff, PodMaxBackoff int64
	// PodMaxInUnschedulablePods is the flag of that name.
	PodMaxInUnschedulablePods time.Duration
}

// unmodelled lists feature gates that this queue does not implement.
var unmodelled = [...]featuregate.Feature{features.CompositePodGroup, features.InPlacePodVerticalScalingSchedulerPreemption}

// Install replaces the queue of s. Call it before running s and starting its informers. It returns an
// error, and leaves s unchanged, if s has a queue sort plugin or a feature gate that is not supported.
func Install(ctx context.Context, s *scheduler.Scheduler, settings Settings) error {
	for _, gate := range unmodelled {
		if utilfeature.DefaultFeatureGate.Enabled(gate) {
			return fmt.Errorf("feature gate %s is not supported by this queue: turn it off", gate)
		}
	}
	for name, profile := range s.Profiles {
		for _, plugin := range profile.ListPlugins().QueueSort.Enabled {
			if plugin.Name != queuesort.Name {
				return fmt.Errorf("profile %s has the queue sort plugin %s: this queue supports only %s", name, plugin.Name, queuesort.Name)
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
	}, classic.WithPlugins(plugins), classic.WithLog(moveLogger{klog.FromContext(ctx)}))

	// Everything to which scheduler.New passes its queue, except the SIGUSR2 debugger.
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
