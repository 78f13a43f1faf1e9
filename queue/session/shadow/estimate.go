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

// Estimate is where a pod is thought to be, as Queue.Restore takes it.
type Estimate struct {
	queue.PodInfo
	Message sources.SafeText
	// InCrowd is true if the pod's turn was yet to come, as one of more than the loop has time for.
	InCrowd bool
	// failedLast is true if no attempt was made since the last one that is known, failedFirst if none was before the first.
	failedLast, failedFirst bool
}

// Estimator works out where a pod is likely to be from what the cluster shows of it: its condition, which keeps the
// time of the first failure and the last message that differed from the one before, and the scheduler's Events about
// it, which count attempts in part.
type Estimator struct {
	Opts queue.Options
	// Release is the scheduler's, such as "v1.31". Empty is the newest.
	Release string
	Tried   map[types.UID]*sources.Tried
	// Last are the pods of which Tried has the last attempt that made an Event. See Attempts.
	Last map[types.UID]bool
	// Judge says what an attempt of the pod would come to now. Nil if nobody can tell.
	Judge func(*v1.Pod) (cycle.Verdict, bool)
}

// Estimate returns where pod is likely to be at now, and false if nothing shows that it was ever tried: then it is
// new.
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
			// The third of a pod at one resourceVersion makes none, and those behind it.
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
	if fits || made.ConsecutiveErrorsCount > 0 { // something woke it, or will have
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
