package shadow

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources"
)

// Estimate is the probable queue state of a pod, in the form that Queue.Restore accepts.
type Estimate struct {
	queue.PodInfo
	Message sources.SafeText
	// InCrowd is true if the pod was waiting for its next attempt among more pods than the loop has
	// time for.
	InCrowd bool
	// failedLast is true if no attempt followed the last known one, failedFirst if none preceded
	// the first known one.
	failedLast, failedFirst bool
}

// Estimator estimates the queue state of pods from the cluster: from a pod's condition, which
// contains the time of the first failure and the last message that differed from the one before,
// and from the scheduler's Events about the pod, which count some of the attempts.
type Estimator struct {
	Opts queue.Options
	// Release is the scheduler's release, such as "v1.31". Empty means the newest.
	Release string
	Tried   map[types.UID]*sources.Tried
	// Last contains the pods whose last attempt with an Event is in Tried. See
	// earlierAttempts.ByPod.
	Last map[types.UID]bool
	// Judge predicts the outcome of an attempt of the pod now. Nil means that no prediction is
	// available.
	Judge func(*v1.Pod) (cycle.Verdict, bool)
}

// Estimate returns the probable state of pod at now. It returns false if nothing shows that the pod
// was ever tried: then it is new.
func (g *Estimator) Estimate(now time.Time, pod *v1.Pod) (Estimate, bool) {
	c, t := cluster.Unscheduled(pod), g.Tried[pod.UID]
	if c == nil && t == nil {
		return Estimate{}, false
	}
	made := Estimate{PodInfo: queue.PodInfo{Pod: pod, Attempts: 1, InitialAttemptTimestamp: pod.CreationTimestamp.Time}}
	if c != nil {
		made.Timestamp, made.Message = c.LastTransitionTime.Time, sources.Sanitize(c.Message)
	}
	if t != nil {
		made.Attempts = max(1, t.Attempts)
		if t.Failed.After(made.Timestamp) {
			made.Timestamp, made.Message = t.Failed, t.Message
			// A pod's third attempt at the same resourceVersion makes no Event, and neither do
			// later ones.
			made.failedLast = g.Last[pod.UID] && (t.Count < 2 || t.Version != pod.ResourceVersion)
			// The condition keeps the time of the first failure, in whole seconds.
			made.failedFirst = c != nil && !t.First.Truncate(time.Second).After(c.LastTransitionTime.Time)
		}
	}
	if made.Timestamp.After(now) || made.Timestamp.IsZero() {
		made.Timestamp = now
	}
	fits := false
	made.UnschedulablePlugins = verdict.PluginsOf(string(made.Message), g.Release)
	if v, ok := g.verdict(pod); ok {
		fits = v.Node != ""
		if (len(made.UnschedulablePlugins) == 0 || verdict.Incomplete(made.UnschedulablePlugins)) && len(v.Plugins) > 0 {
			made.UnschedulablePlugins = v.Plugins
		}
	}
	if len(made.UnschedulablePlugins) == 0 {
		made.ConsecutiveErrorsCount = made.Attempts
	} else {
		made.UnschedulableCount = made.Attempts
	}
	made.Tier = queue.Unschedulable
	if fits || made.ConsecutiveErrorsCount > 0 { // an event has woken it or is about to
		made.Tier = queue.Active
		if now.Before(made.Timestamp.Add(g.Opts.Backoff(made.Attempts))) {
			made.Tier = queue.Backoff
		}
	}
	return made, true
}

func (g *Estimator) verdict(pod *v1.Pod) (cycle.Verdict, bool) {
	if g.Judge == nil {
		return cycle.Verdict{}, false
	}
	return g.Judge(pod)
}
