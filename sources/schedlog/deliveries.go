package schedlog

import (
	"bytes"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// deliveryCost is the approximate size of a delivery in bytes, with its name.
const deliveryCost = 200

// heard processes a line of -v=3 about a pod or node that the scheduler's watch added or deleted (v1.37:
// eventhandlers.go). The event that wakes pods follows at once.
func (p *parser) heard(h *header, rest []byte) error {
	if p.follows {
		return nil // it repeats what earlier lines said
	}
	verb, deleted := sources.Added, false
	after, added := bytes.CutPrefix(rest, []byte("Add event for "))
	if !added {
		if after, deleted = bytes.CutPrefix(rest, []byte("Delete event for ")); !deleted {
			return nil
		}
		verb = sources.Deleted
	}
	d := sources.Delivered{Verb: verb}
	key := ` pod="`
	switch what, _, _ := bytes.Cut(after, []byte(`"`)); string(what) {
	case "scheduled pod":
		d.Assigned = true
	case "unscheduled pod":
	case "node":
		d.Node, key = true, ` node="`
	default:
		return nil
	}
	name := string(value(after, key))
	if d.Node {
		if sources.CheckName(name) != nil {
			return nil
		}
		d.Name = types.NamespacedName{Name: name}
	} else {
		pod, err := sources.ParsePod(name)
		if err != nil {
			return nil
		}
		d.Name = pod
	}
	if again, err := p.again(h); again {
		return err
	}
	p.part.Events = append(p.part.Events, sources.Event{Time: p.clock.time(h), Fact: &d})
	if p.part.Keep != nil {
		p.part.Keep(deliveryCost)
	}
	return nil
}
