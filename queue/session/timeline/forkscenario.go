package timeline

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/scenario"
)

// forkRest is for how long a scenario of a what-if goes on beyond the moment shown.
const forkRest = 30 * time.Second

// Scenario makes a scenario of the fork t, at the moment now: the cluster as it was when it left the recording, and what was done from
// then on. It is nil if no node was known then.
func (t *Timeline) Scenario(name sources.SafeText, now time.Time) *scenario.Scenario {
	objects := t.ObjectsAtFork()
	if !slices.ContainsFunc(objects, func(obj runtime.Object) bool { _, is := obj.(*v1.Node); return is }) {
		return nil
	}
	done := t.Done()
	made := &scenario.Scenario{Name: name, Start: t.Start.UTC(), PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}
	usual, err := queue.ForRelease(t.Engine.Config.Release)
	if err != nil { // no file can name it: the newest
		usual = queue.Defaults()
	} else {
		made.Release = t.Engine.Config.Release
	}
	is := t.Options()
	for _, set := range [...]struct {
		to        *time.Duration
		is, usual time.Duration
	}{
		{&made.PodInitialBackoff, is.PodInitialBackoff, usual.PodInitialBackoff},
		{&made.PodMaxBackoff, is.PodMaxBackoff, usual.PodMaxBackoff},
		{&made.PodMaxInUnschedulablePods, is.PodMaxInUnschedulablePods, usual.PodMaxInUnschedulablePods},
	} {
		if set.is != set.usual {
			*set.to = set.is
		}
	}
	until := now
	if n := len(done); n > 0 && done[n-1].Time.After(until) {
		until = done[n-1].Time
	}
	made.End = max(time.Minute, until.Sub(t.Start)+forkRest)
	made.Continue(objects, done)
	return made
}
