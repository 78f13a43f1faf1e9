package report

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Notices returns what a person should know of rec: what its readers noticed, and what it lacks.
func Notices(rec *sources.Recording) []string {
	notices := slices.Clip(rec.Notices)
	if said := sharedUIDs(rec.Tells()); said != "" {
		notices = append(notices, said)
	}
	moves, pods := cluster.HasFact[*sources.Move](rec.Tells()), slices.ContainsFunc(rec.Tells(), cluster.IsPod)
	logged := cluster.HasFact[*sources.Dumped](rec.Tells()) || slices.ContainsFunc(rec.Tells(), func(ev sources.Event) bool {
		l, is := ev.Fact.(*sources.Logged)
		return is && l.Verbosity >= 0 && l.Verbosity < sources.MovesVerbosity
	})
	if said := unplayed(rec.Tells(), rec.Rerun); said != "" && pods && (!moves || rec.Rerun) {
		notices = append(notices, said)
	}
	notices = append(notices, timeline.SchedulersOf(rec).Notices()...)
	switch {
	case len(rec.Tells()) == 0:
		return append(notices, "The recording is empty: no change of a pod or of a node is in it, and nothing that a scheduler did. An audit log tells if pods and nodes are at level RequestResponse, a scheduler's log from -v=2 on.")
	case logged && !pods:
		return append(notices, "Only a scheduler's log is in this recording, and it does not tell all moves: a pod is shown where its last attempt left it. What woke it, and when, is not known, nor its priority.")
	case logged && !rec.Rerun:
		return append(notices, "The scheduler's log tells how attempts ended: the moves between them are modelled, by kube-scheduler's own plugins, and corrected by it and by what the API shows.")
	case !moves && pods && !rec.Rerun:
		return append(notices, "No scheduler's log is in this recording: the moves are modelled, by kube-scheduler's own plugins, and corrected by what the API shows.")
	case moves && !pods:
		return append(notices, "No audit log is in this recording: the pods' priorities and labels are not known, and a what-if takes pods by time alone.")
	}
	return notices
}

// unplayed returns what a person should know of quiet times that a local scheduler plays the last of, or "".
func unplayed(events []sources.Event, rerun bool) string {
	said, more, settling, first := "", -1, time.Duration(0), ""
	if rerun {
		settling, first = model.Settling, fmt.Sprintf("the first %g and ", model.Settling.Hours())
	}
	for i := 1; i < len(events); i++ {
		from, to := events[i-1].Time, events[i].Time
		if to.Sub(from) <= model.LongestGap+settling {
			continue
		}
		if more++; more == 0 {
			const format = "2006-01-02 15:04:05 UTC"
			said = fmt.Sprintf("From %s to %s nothing happened, and that is not played: of a quiet time, %sthe last %g hours are",
				from.Add(settling).UTC().Format(format), to.Add(-model.LongestGap).UTC().Format(format), first, model.LongestGap.Hours())
		}
	}
	if more > 0 {
		said += fmt.Sprintf("; %s more", words.Times(more, "such time"))
	}
	if said != "" {
		said += "."
	}
	return said
}

// sharedUIDs returns what a person should know of pods that have one UID at a time, or "". No API server makes such
// pods, and upstream's caches know pods by their UIDs, so a local scheduler does without all but the first.
func sharedUIDs(events []sources.Event) string {
	known := map[types.UID]types.NamespacedName{}
	said, more := "", map[types.NamespacedName]bool{}
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
			if said == "" {
				said = fmt.Sprintf("Pods %s and %s have the same UID %s: a local scheduler leaves the second out", first, key, sources.Sanitize(string(pod.UID)))
			}
			more[key] = true
		case c.Verb == sources.Deleted:
			delete(known, pod.UID)
		default:
			known[pod.UID] = key
		}
	}
	switch n := len(more) - 1; {
	case said == "":
		return ""
	case n > 0:
		return fmt.Sprintf("%s, and %s more.", said, words.Times(n, "such pod"))
	}
	return said + "."
}
