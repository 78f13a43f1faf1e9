package session

import (
	"errors"

	"github.com/schedq/schedq/sources/scenario"
)

// errNoFork is why there is no scenario of a what-if.
var errNoFork = errors.New("no what-if is shown")

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
	if o.fork == nil {
		return nil, errNoFork
	}
	if made := o.fork.Scenario(o.rec.Name, o.now); made != nil {
		return made, nil
	}
	return nil, errNothingKnown
}
