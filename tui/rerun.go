package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// rerun is the result of rerunning a recording.
type rerun struct {
	of         *session.Session
	release    string
	comparison *report.Comparison
	open       func() *session.Session
	err        error
}

// chooseRelease lists the releases to rerun the recording under.
func (m *model) chooseRelease() tea.Cmd {
	releases := queue.Releases()
	l := widget.List{Title: "rerun under", Choose: func(chosen []int) tea.Cmd {
		release, s := releases[chosen[0]], m.Session
		name := "rerunning under " + s.Release() + " and " + release
		return m.Begin(m.ctx, name, func(ctx context.Context, w *page.Work) func(late bool) tea.Cmd {
			c, again, err := s.Rerun(ctx, release, w.Report)
			return func(late bool) tea.Cmd { return m.rerunDone(rerun{s, release, c, again, err}, late) }
		})
	}}
	for _, r := range releases {
		l.Items = append(l.Items, widget.Item{Text: r + "  " + newIn(r),
			Note: "A local scheduler schedules the recorded pods on the recorded nodes; the recorded scheduler's decisions are ignored."})
	}
	return widget.OpenList(m.UI, l, 0)
}

// newIn returns what is new in a release of queue.Releases.
func newIn(release string) string {
	switch release {
	case "v1.37":
		return "gated pods take part in the leftover flush"
	case "v1.36":
		return "NodeResourcesFit registers for device class events"
	case "v1.35":
		return "same as v1.34"
	case "v1.34":
		return "separate backoff counts for rejections and errors"
	case "v1.33":
		return "an idle scheduler pops early from backoffQ"
	case "v1.32":
		return "queueing hints; events during an attempt are replayed"
	case "v1.31":
		return "a bound pod wakes pods that PodTopologySpread rejected"
	case "v1.30":
		return "a taint update wakes like a new node"
	case "v1.29":
		return "queueing hints, off by default"
	case "v1.28":
		return "scheduling gates"
	case "v1.24":
		return "at most 5 minutes unschedulable"
	case "v1.23":
		return "only registered events wake pods"
	case "v1.19":
		return "every attempt doubles the backoff"
	case "v1.16":
		return "every event wakes all pods; moveRequestCycle; 60 s"
	}
	return ""
}

// rerunDone shows the differences, or a notice if the user has done something else meanwhile. Choosing an item opens the rerun.
func (m *model) rerunDone(r rerun, late bool) tea.Cmd {
	switch {
	case r.of != m.Session:
		return nil // another recording was opened
	case r.err != nil:
		return m.Refuse(r.err.Error())
	}
	show := func() tea.Cmd { return m.showRerun(r) }
	if late {
		return m.QueueNotice(page.Notice{Text: "the rerun under " + r.release + " is ready", Open: show})
	}
	return show()
}

func (m *model) showRerun(r rerun) tea.Cmd {
	title := fmt.Sprintf("%s → %s: %s shows %s", r.of.Release(), r.release, m.Keys.Say("{list-choose}"), r.release)
	if r.of.Release() == r.release {
		title = "both runs are of " + r.release + ": " + m.Keys.Say("{list-choose}") + " shows it"
	}
	return widget.OpenList(m.UI, widget.List{
		Title: title,
		Items: comparisonItems(r.comparison, r.of.Release(), r.release),
		Choose: func([]int) tea.Cmd {
			return m.open(Recording{Name: "the rerun under " + r.release, Open: func(context.Context, func(float64)) (*session.Session, error) {
				return r.open(), nil
			}})
		},
	}, 0)
}

// maxCompared limits how many different pods are listed.
const maxCompared = 200

func comparisonItems(c *report.Comparison, from, to string) []widget.Item {
	pair := func(text, a, b string) widget.Item { return widget.Item{Text: text, Aside: a + " → " + b} }
	count := func(text string, a, b int) widget.Item { return pair(text, format.Number(a), format.Number(b)) }
	items := []widget.Item{
		{Text: "total, " + from + " → " + to, Heading: true},
		count("moves, "+format.Number(c.Same)+" of them the same", c.From.Moves, c.To.Moves),
		count("attempts", c.From.Attempts.Total, c.To.Attempts.Total),
		count("pods bound", c.From.Attempts.Bound, c.To.Attempts.Bound),
	}
	items = append(items, widget.Item{Text: "time in", Heading: true})
	for _, t := range c.Tiers() {
		items = append(items, pair(words.TierNamed(t.Tier), waited(t.From.Total), waited(t.To.Total)))
	}
	items = append(items, widget.Item{Text: "woken by", Heading: true})
	for _, w := range c.Wakes() {
		items = append(items, count(w.Event, w.From, w.To))
	}
	items = append(items, placementItems(c.Placement)...)
	if len(c.Pods) == 0 {
		return append(items, widget.Item{Text: "no pod differs", Heading: true})
	}
	items = append(items, widget.Item{Text: format.Plural(len(c.Pods), "pod") + " with a different outcome, largest difference first", Heading: true})
	for _, p := range c.Pods[:min(maxCompared, len(c.Pods))] {
		items = append(items, widget.Item{
			Text: p.Pod, Aside: outcomeText(p.From) + " → " + outcomeText(p.To),
			Note: fmt.Sprintf("%s: %s after %s and %s; %s: %s after %s and %s.",
				from, words.TierNamed(p.From.Tier), waited(p.From.Waited), p.From.AttemptCount().Attempts(),
				to, words.TierNamed(p.To.Tier), waited(p.To.Waited), p.To.AttemptCount().Attempts()),
		})
	}
	return items
}

// maxNodesCompared limits how many nodes are listed.
const maxNodesCompared = 10

// placementItems describe on which nodes the two runs bind pods.
func placementItems(p *report.Placement) []widget.Item {
	if p == nil {
		return nil
	}
	pair := func(text, a, b string) widget.Item { return widget.Item{Text: text, Aside: a + " → " + b} }
	count := func(b report.BoundCount) widget.Item {
		return pair(string(b.Name), format.Number(b.From), format.Number(b.To))
	}
	items := []widget.Item{{Text: fmt.Sprintf("bound: %d of %s on another node", len(p.Moved), format.Plural(p.BoundInBoth, "pod")), Heading: true}}
	for _, zone := range p.Zones {
		items = append(items, count(zone))
	}
	for _, node := range p.Nodes[:min(maxNodesCompared, len(p.Nodes))] {
		items = append(items, count(node))
	}
	if f := p.Fullest; f != nil {
		items = append(items, widget.Item{Text: "nodes when fullest", Heading: true})
		for _, row := range f.Rows() {
			item := pair(strings.TrimSpace(row.Text), row.From, row.To)
			item.Note = "The moment when the pods on the nodes of both runs requested most CPU."
			if median := f.Median(); median != "" {
				item.Note += " The median pod requests " + median + "."
			}
			items = append(items, item)
		}
	}
	return items
}

func outcomeText(o report.Outcome) string {
	return words.TierNamed(o.Tier) + " " + waited(o.Waited) + " ×" + o.AttemptCount().String()
}

func waited(s report.Seconds) string {
	d := time.Duration(s)
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
