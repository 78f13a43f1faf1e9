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

// maxNames limits how many names of a kind are loaded.
const maxNames = 20_000

// names are the names of the cluster's objects of a kind. A prompt completes and checks them.
type names struct {
	ui   *page.UI
	kind string
	// before is the last known cluster when the prompt opened, of the cluster the names are from.
	before, of *explain.Cluster
	all        []string
}

// names requests the cluster and returns the names of its objects of that kind.
func (w whatIfs) names(kind string) *names {
	w.Session.Survey()
	return &names{ui: w.UI, kind: kind, before: w.Frame.Cluster}
}

// known returns the names known so far.
func (n *names) known() []string {
	if c := n.ui.Frame.Cluster; c != n.of && c != nil {
		n.of, n.all = c, c.Names(n.kind, maxNames)
	}
	return n.all
}

// completing returns a completion for the word with that number.
func (n *names) completing(word int) func(text string) []string {
	return func(text string) []string {
		if words := len(strings.Fields(text)); words > word || words == word && strings.HasSuffix(text, " ") {
			return nil
		}
		return widget.Starting(text, n.known())
	}
}

// maxOffered is how many names are suggested for a wrong one.
const maxOffered = 5

// unknown returns an error text if there is no object with that name. It returns "" while the names
// are not known; the session reports the error then.
func (n *names) unknown(name string) string {
	all := n.known()
	if n.of == n.before || len(all) == 0 || len(all) == maxNames || slices.Contains(all, name) {
		return ""
	}
	word := strings.ToLower(strings.TrimPrefix(n.kind, "PersistentVolume"))
	offered, more := all, ""
	if left := len(all) - maxOffered; left > 0 {
		offered, more = all[:maxOffered], fmt.Sprintf(" and %s more", format.Number(left))
	}
	return fmt.Sprintf("there is no %s %s; there are %s%s", word, format.Safe(name), format.SafeList(offered, ", "), more)
}
