package hearing

import (
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/sources"
)

// Scheduler says what attempts would come to by what it has heard of so far, and can be told for a while what it has not. Its queue hears
// nothing of that.
type Scheduler interface {
	Judge(*v1.Pod) (cycle.Verdict, error)
	KnownNode(name string) *v1.Node
	NodeChanged(oldNode, newNode *v1.Node) bool
	Load(runtime.Object) error
	Unload(runtime.Object) error
	WouldWake(pod *v1.Pod, obj runtime.Object, deleted bool) bool
}

// mostTold is how many failures, or signs of attempts, are looked at. Chosen, a bound on the work.
const mostTold = 100

// MissedBy returns when the last attempt ended that was made without a change of a node, which the scheduler could have heard of at
// since: it is told within that long to have failed as it does without the change, and would not with it. A snapshot of the nodes
// is taken when an attempt begins (schedule_one.go, schedulePod), so the scheduler heard of the change after that. node is as the change
// left it, by which attempts can come to something else. pod returns the pod that a failure is of, or nil if that can't be judged. Zero if there is no such attempt.
func MissedBy(f *evidence.Future, since time.Time, within time.Duration, node *v1.Node, sched Scheduler, pod func(*evidence.Sighting) *v1.Pod) (ended time.Time) {
	failed, pods := judgeable(f, since, within, node, pod)
	for i, outcome := range compare(failed, pods, (*evidence.Sighting).Message, node, sched) {
		switch outcome {
		case withoutIt, orTaken:
			ended = failed[i].Time
		case withIt:
			return ended
		}
	}
	return ended
}

// outcome is what an attempt came to, by a message, where a change of a node makes a difference.
type outcome uint8

const (
	neither outcome = iota
	withoutIt
	orTaken // as without it, or as with it where another pod has what it gives: with it, the pod would fit
	withIt
)

// compare returns what attempts of pods came to that are seen, by their messages: node is as its change left it, of which the scheduler has
// not heard.
func compare(seen []*evidence.Sighting, pods []*v1.Pod, message func(*evidence.Sighting) string, node *v1.Node, sched Scheduler) []outcome {
	without, candidates := make([]string, len(seen)), 0 // up to the last one that was made without it
	for i, p := range pods {
		if without[i] = says(sched, p); tells(message(seen[i]), without[i]) {
			candidates = i + 1
		}
	}
	heard := sched.KnownNode(node.Name)
	if candidates == 0 || sched.Load(node) != nil {
		return nil
	}
	defer func() {
		if heard == nil {
			_ = sched.Unload(node)
		} else {
			_ = sched.Load(heard)
		}
	}()
	came := make([]outcome, candidates)
	for i, s := range seen[:candidates] {
		with := says(sched, pods[i])
		switch {
		case with == without[i]:
		case tells(message(s), without[i]) && with == "":
			came[i] = orTaken
		case tells(message(s), without[i]):
			came[i] = withoutIt
		case tells(message(s), with):
			came[i] = withIt
		}
	}
	return came
}

// judgeable returns the failures that tell of attempts with or without a change of node, and their pods: those after that moment, within that
// long and before the node changes again, or any node goes, which the messages would count, too. A series of Events keeps the message of
// its first one (client-go, tools/events/event_broadcaster.go, recordToSink), so only that tells.
func judgeable(f *evidence.Future, since time.Time, within time.Duration, node *v1.Node, pod func(*evidence.Sighting) *v1.Pod) (failed []*evidence.Sighting, pods []*v1.Pod) {
	for s := range f.Changes(since, within) {
		if other, is := s.Change.Object.(*v1.Node); is && (other.Name == node.Name || s.Deleted()) {
			within = s.Time.Sub(since)
			break
		}
	}
	for s := range f.Failures(since, within) {
		if s.Fact.(*sources.FailedAttempt).Count > 1 {
			continue
		}
		if p := pod(s); p != nil {
			failed, pods = append(failed, s), append(pods, p)
		}
		if len(failed) == mostTold {
			break
		}
	}
	return failed, pods
}

// says is the message with which an attempt of pod would fail, without what preemption has to say. Empty if it would not.
func says(sched Scheduler, pod *v1.Pod) string {
	v, err := sched.Judge(pod)
	if err != nil {
		return ""
	}
	return v.Message
}

// tells reports whether an attempt failed with the message of a verdict.
func tells(message, verdict string) bool { return verdict != "" && strings.HasPrefix(message, verdict) }
