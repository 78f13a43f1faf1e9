package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
)

// Change is a change of the scheduler's configuration, or of a node, with which a cycle is run again. Zero changes
// nothing.
type Change struct {
	text string

	plugin   string // with another weight
	weight   int32
	strategy string // of NodeResourcesFit
	shape    [][2]int32
	node     string // with edits in kubectl's notation
	edits    []string
}

// ChangeUsage says what ParseChange accepts.
const ChangeUsage = "PLUGIN=WEIGHT  LeastAllocated  MostAllocated  RequestedToCapacityRatio 0:0 100:10  NODE cordon  NODE KEY=VALUE"

// ParseChange parses a change: see ChangeUsage.
func ParseChange(text string) (Change, error) {
	words := strings.Fields(text)
	c := Change{text: strings.Join(words, " ")}
	switch {
	case len(words) == 0:
		return c, fmt.Errorf("type a change: %s", ChangeUsage)
	case slices.Contains(schedulerconfig.Strategies(), words[0]):
		c.strategy = words[0]
		for _, point := range words[1:] {
			utilization, score, _ := strings.Cut(point, ":")
			x, err := strconv.ParseInt(utilization, 10, 32)
			y, err2 := strconv.ParseInt(score, 10, 32)
			if err != nil || err2 != nil {
				return c, fmt.Errorf("invalid point %q: use UTILIZATION:SCORE, such as 100:10", point)
			}
			c.shape = append(c.shape, [2]int32{int32(x), int32(y)})
		}
		if c.strategy == "RequestedToCapacityRatio" && len(c.shape) == 0 {
			c.shape = [][2]int32{{0, 0}, {100, 10}}
		}
		return c, nil
	case len(words) == 1:
		plugin, weight, found := strings.Cut(words[0], "=")
		w, err := strconv.ParseInt(weight, 10, 32)
		if !found || err != nil || w < 0 || w > 100 {
			return c, fmt.Errorf("invalid change %q: use PLUGIN=WEIGHT with a weight from 0 to 100, a scoring strategy, or a node and its changes", words[0])
		}
		c.plugin, c.weight = plugin, int32(w)
		return c, nil
	}
	c.node, c.edits = words[0], words[1:]
	return c, nil
}

// None reports whether c changes nothing.
func (c Change) None() bool { return c.text == "" }

// String returns the change as it was typed.
func (c Change) String() string { return c.text }

// Apply returns a changed configuration, and the changed objects.
func (c Change) Apply(cfg *schedulerconfig.Config, objects cluster.Objects) (*schedulerconfig.Config, cluster.Objects, error) {
	var err error
	switch {
	case c.plugin != "":
		cfg, err = cfg.WithWeight(c.plugin, c.weight)
	case c.strategy != "":
		cfg, err = cfg.WithStrategy(c.strategy, c.shape)
	case c.node != "":
		node := objects.Node(c.node)
		if node == nil {
			return nil, objects, fmt.Errorf("node %s not found", c.node)
		}
		node = node.DeepCopy()
		for _, edit := range c.edits {
			if err := cluster.EditNode(node, edit); err != nil {
				return nil, objects, err
			}
		}
		objects = objects.Copy()
		objects.Put(node)
	}
	return cfg, objects, err
}
