package session

import (
	"errors"

	"github.com/schedq/schedq/sources/scenario"
)

// errNoFork is why there is no scenario.
var errNoFork = errors.New("no what-if is shown")

// ForkScenario makes a scenario of the what-if shown: the cluster as it was when the what-if left the
// recording, and the actions since. Pods that were waiting then start as new pods, and a local
// scheduler makes the decisions when the scenario is played. Its objects have no UIDs, which follow
// from the names when it is written or played. ForkScenario may also be called after Run has returned.
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
			collect(s.owner) // Run has returned, so nobody else uses it
		}
	}
	return made, err
}

func (o *owner) forkScenario() (*scenario.Scenario, error) {
	if o.fork == nil {
		return nil, errNoFork
	}
	if made := o.fork.Scenario(o.rec.Name, o.now); made != nil {
		return made, nil
	}
	return nil, errNoNodesKnown
}
