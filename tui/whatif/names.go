package whatif

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// mostNames is how many names of a kind are looked through.
const mostNames = 20_000

// names are those of the cluster's objects of a kind. A prompt completes them, and tells a wrong one while it is open.
type names struct {
	ui   *page.UI
	kind string
	// before is what was known of the cluster before the prompt asked for it, of what the names are from.
	before, of *explain.Cluster
	all        []string
}

// names asks for the cluster, whose objects of that kind are named.
func (w whatIfs) names(kind string) *names {
	w.Session.Survey()
	return &names{ui: w.UI, kind: kind, before: w.Frame.Cluster}
}

// known are the names that are known of by now.
func (n *names) known() []string {
	if c := n.ui.Frame.Cluster; c != n.of && c != nil {
		n.of, n.all = c, c.Names(n.kind, mostNames)
	}
	return n.all
}

// completing completes the word of that number.
func (n *names) completing(word int) func(text string) []string {
	return func(text string) []string {
		if words := len(strings.Fields(text)); words > word || words == word && strings.HasSuffix(text, " ") {
			return nil
		}
		return widget.Starting(text, n.known())
	}
}

// mostOffered is how many names are said in the place of a wrong one.
const mostOffered = 5

// unknown says that there is no object of that name, and which there are. It is empty while that is not known: the session
// says so then.
func (n *names) unknown(name string) string {
	all := n.known()
	if n.of == n.before || len(all) == 0 || len(all) == mostNames || slices.Contains(all, name) {
		return ""
	}
	word := strings.ToLower(strings.TrimPrefix(n.kind, "PersistentVolume"))
	offered, more := all, ""
	if left := len(all) - mostOffered; left > 0 {
		offered, more = all[:mostOffered], fmt.Sprintf(" and %s more", format.Number(left))
	}
	return fmt.Sprintf("there is no %s %s; there are %s%s", word, format.Safe(name), format.SafeList(offered, ", "), more)
}
