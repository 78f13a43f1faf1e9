package session

import (
	"errors"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources/scenario"
)

// errNoFork is why there is no scenario of a what-if.
var errNoFork = errors.New("no what-if is shown")

// forkRest is for how long a scenario of a what-if goes on beyond the moment shown.
const forkRest = 30 * time.Second

// ForkScenario makes a scenario of the what-if that is shown: the cluster as it was when the what-if left the recording, and
// what was done from then on. Pods that waited then wait as if they had just come, and a local scheduler decides when it is
// played, whoever did in the what-if. Its objects have no UIDs: when it is written or played, these follow from the names. It may be called when Run has returned, too.
func (s *Session) ForkScenario() (made *scenario.Scenario, err error) {
	ready := make(chan struct{})
	collect := func(o *owner) { made, err = o.forkScenario() }
	s.do(func(o *owner) {
		collect(o)
		close(ready)
	})
	select {
	case <-ready:
	case <-s.done:
		select {
		case <-ready:
		default:
			collect(s.owner) // nobody else has it any more
		}
	}
	return made, err
}

func (o *owner) forkScenario() (*scenario.Scenario, error) {
	t := o.fork
	if t == nil {
		return nil, errNoFork
	}
	objects := t.ObjectsAtFork()
	if !slices.ContainsFunc(objects, func(obj runtime.Object) bool { _, is := obj.(*v1.Node); return is }) {
		return nil, errNothingKnown
	}
	done := t.Done()
	made := &scenario.Scenario{Name: o.rec.Name, Start: t.Start.UTC(), PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}
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
	until := o.now
	if n := len(done); n > 0 && done[n-1].Time.After(until) {
		until = done[n-1].Time
	}
	made.End = max(time.Minute, until.Sub(t.Start)+forkRest)
	made.Continue(objects, done)
	return made, nil
}
