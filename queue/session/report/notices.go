package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Notices returns the notices about rec: those of its readers, and what it lacks.
func Notices(rec *sources.Recording) []string {
	notices := slices.Clip(rec.Notices)
	if notice := sharedUIDs(rec.Events); notice != "" {
		notices = append(notices, notice)
	}
	moves, pods := cluster.HasFact[*sources.Move](rec.Events), slices.ContainsFunc(rec.Events, cluster.IsPod)
	logged := cluster.HasFact[*sources.Dumped](rec.Events) || slices.ContainsFunc(rec.Events, func(ev sources.Event) bool {
		l, is := ev.Fact.(*sources.Logged)
		return is && l.Verbosity >= 0 && l.Verbosity < sources.MovesVerbosity
	})
	if notice := quietTimes(rec.Events, rec.Rerun); notice != "" && pods && (!moves || rec.Rerun) {
		notices = append(notices, notice)
	}
	notices = append(notices, timeline.SchedulersOf(rec).Notices()...)
	if i := slices.IndexFunc(rec.Events, func(ev sources.Event) bool { return sources.LacksObject(ev.Fact) }); i >= 0 && pods {
		pod, _ := sources.LoggedPod(rec.Events[i].Fact)
		notices = append(notices, fmt.Sprintf("The scheduler log names pods without an object, such as %s: they are shown as logged. What they need, and what they take of a node, is unknown.", pod))
	}
	switch {
	case len(rec.Events) == 0:
		return append(notices, "The recording is empty: no changes of pods or nodes and no scheduler activity. An audit log needs pods and nodes at level RequestResponse, a scheduler log -v=2 or higher.")
	case logged && !pods:
		return append(notices, "This recording contains only a scheduler log, without all moves: a pod is shown where its last attempt left it. What woke it, and when, is unknown, and so is its priority.")
	case pods && (logged || !moves) && !rec.Rerun && !rec.Live() && !cluster.HasNodes(rec.Events):
		return append(notices, "This recording contains no node: nothing that needs one is modelled, and a pod is shown where it arrived or where its last recorded attempt left it.")
	case logged && !rec.Rerun:
		return append(notices, "The scheduler log shows how attempts ended: the moves in between are modelled with kube-scheduler's own plugins, and corrected with the log and what the API shows.")
	case !moves && pods && !rec.Rerun:
		return append(notices, "This recording contains no scheduler log: the moves are modelled with kube-scheduler's own plugins, and corrected with what the API shows.")
	case moves && !pods:
		return append(notices, "This recording contains no audit log: the pods' priorities and labels are unknown, and a what-if orders pods by time only.")
	}
	return notices
}

// quietTimes returns a notice about long quiet times that a local scheduler skips, or "".
func quietTimes(events []sources.Event, rerun bool) string {
	notice, more, settling, first := "", -1, time.Duration(0), ""
	if rerun {
		settling, first = shadow.Settling, fmt.Sprintf("the first %g and ", shadow.Settling.Hours())
	}
	for i := 1; i < len(events); i++ {
		from, to := events[i-1].Time, events[i].Time
		if to.Sub(from) <= shadow.LongestGap+settling {
			continue
		}
		if more++; more == 0 {
			const format = "2006-01-02 15:04:05 UTC"
			notice = fmt.Sprintf("Skipped %s to %s, when nothing happened: only %sthe last %g hours of a quiet time are played.",
				from.Add(settling).UTC().Format(format), to.Add(-shadow.LongestGap).UTC().Format(format), first, shadow.LongestGap.Hours())
		}
	}
	if more > 0 {
		notice += fmt.Sprintf(" Also skipped: %s.", words.Plural(more, "more quiet time"))
	}
	return notice
}

// sharedUIDs returns a notice about pods that share a UID at the same time, or "". No API server creates
// such pods, and upstream's caches identify pods by UID, so a local scheduler ignores all but the first.
func sharedUIDs(events []sources.Event) string {
	known := map[types.UID]types.NamespacedName{}
	notice, more := "", map[types.NamespacedName]bool{}
	for _, ev := range events {
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		pod, ok := c.Object.(*v1.Pod)
		if !ok || pod.UID == "" {
			continue
		}
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		first, taken := known[pod.UID]
		switch {
		case taken && first != key:
			if notice == "" {
				notice = fmt.Sprintf("Pods %s and %s have the same UID %s: a local scheduler ignores the second", first, key, sources.Sanitize(string(pod.UID)))
			}
			more[key] = true
		case c.Verb == sources.Deleted:
			delete(known, pod.UID)
		default:
			known[pod.UID] = key
		}
	}
	switch n := len(more) - 1; {
	case notice == "":
		return ""
	case n > 0:
		return fmt.Sprintf("%s, and %s.", notice, words.Plural(n, "more such pod"))
	}
	return notice + "."
}

// maxOthers limits how many other schedulers are named.
const maxOthers = 3

// OtherSchedulers returns a notice about pods that wait for schedulers without a profile in cfg, which are
// left out. It is "" if there are none, or if the recording contains the moves of all pods.
func OtherSchedulers(events []sources.Event, cfg *schedulerconfig.Config) string {
	if cluster.HasFact[*sources.Move](events) {
		return ""
	}
	pods, schedulers := map[types.UID]bool{}, map[string]bool{}
	for _, ev := range events {
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		pod, ok := c.Object.(*v1.Pod)
		if !ok || !cluster.Waiting(pod) || c.Verb == sources.Deleted || pod.Spec.SchedulerName == "" || cfg.HasProfile(pod.Spec.SchedulerName) {
			continue
		}
		pods[pod.UID], schedulers[pod.Spec.SchedulerName] = true, true
	}
	if len(pods) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(schedulers))
	if more := len(names) - maxOthers; more > 0 {
		names = append(names[:maxOthers], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("Left out: %s of other schedulers (%s).", words.Plural(len(pods), "pod"), sources.Sanitize(strings.Join(names, ", ")))
}
