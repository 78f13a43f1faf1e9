package tui

import (
	"fmt"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
)

// rerunMsg says what came of running a recording again.
type rerunMsg struct {
	of         *session.Session
	release    string
	comparison *session.Comparison
	session    *session.Session
	err        error
}

// chooseRelease lists the releases, and runs the recording again under the chosen one.
func (m *model) chooseRelease() tea.Cmd {
	releases := queue.Releases()
	l := list{title: "run it again under", choose: func(chosen []int) tea.Cmd {
		release, s, ctx := releases[chosen[0]], m.session, m.ctx
		run := guarded(func() tea.Msg {
			c, again, err := s.Rerun(ctx, release)
			return rerunMsg{s, release, c, again, err}
		})
		return tea.Batch(run, m.tell(notice{text: "running it again under " + s.Release() + " and " + release + " …"}))
	}}
	for _, r := range releases {
		l.items = append(l.items, item{text: r + "  " + newIn(r),
			note: "A local scheduler decides over the recording's pods and nodes; what the recorded one did is left out."})
	}
	m.openList(l)
	return nil
}

// newIn says what is new in a release of queue.Releases.
func newIn(release string) string {
	switch release {
	case "v1.37":
		return "gated pods hear of the leftover flush"
	case "v1.35":
		return "rejections and errors count apart for the backoff"
	case "v1.33":
		return "an idle scheduler pops out of backoffQ early"
	case "v1.32":
		return "queueing hints; events during an attempt are replayed"
	case "v1.28":
		return "scheduling gates"
	case "v1.24":
		return "registered events wake; 5 minutes unschedulable at most"
	case "v1.19":
		return "every attempt doubles the backoff"
	case "v1.16":
		return "every event wakes everybody; moveRequestCycle; 60 s"
	}
	return ""
}

// ranAgain shows what came out differently. Choosing anything there opens the rerun.
func (m *model) ranAgain(msg rerunMsg) tea.Cmd {
	switch {
	case msg.of != m.session:
		return nil // another recording was opened meanwhile
	case msg.err != nil:
		return m.tell(notice{msg.err.Error(), true})
	}
	l := list{
		title: fmt.Sprintf("%s against %s: enter watches %s", msg.of.Release(), msg.release, msg.release),
		items: comparisonItems(msg.comparison, msg.of.Release(), msg.release),
		choose: func([]int) tea.Cmd {
			return m.opened(openedMsg{name: "the rerun under " + msg.release, session: msg.session})
		},
	}
	m.openList(l)
	return m.tell(notice{})
}

// mostCompared is how many of the pods that came out differently are listed.
const mostCompared = 200

func comparisonItems(c *session.Comparison, from, to string) []item {
	pair := func(text, a, b string) item { return item{text: text, aside: a + " → " + b} }
	count := func(text string, a, b int) item { return pair(text, number(a), number(b)) }
	items := []item{
		{text: "in all", heading: true},
		count("moves, "+number(c.Same)+" of them the same", c.From.Moves, c.To.Moves),
		count("attempts", c.From.Attempts.Total, c.To.Attempts.Total),
		count("pods bound", c.From.Attempts.Bound, c.To.Attempts.Bound),
	}
	for _, t := range c.Tiers() {
		items = append(items, pair("time in "+t.Tier, waited(t.From.Total), waited(t.To.Total)))
	}
	items = append(items, item{text: "woken by", heading: true})
	for _, w := range c.Wakes() {
		items = append(items, count(w.Event, w.From, w.To))
	}
	if len(c.Pods) == 0 {
		return append(items, item{text: "every pod came out the same", heading: true})
	}
	items = append(items, item{text: plural(len(c.Pods), "pod") + " came out differently, the most different first", heading: true})
	for _, p := range c.Pods[:min(mostCompared, len(c.Pods))] {
		items = append(items, item{
			text: p.Pod, aside: outcomeText(p.From) + " → " + outcomeText(p.To),
			note: fmt.Sprintf("%s: %s after %s and %s; %s: %s after %s and %s.",
				from, p.From.Tier, waited(p.From.Waited), plural(p.From.Attempts, "attempt"),
				to, p.To.Tier, waited(p.To.Waited), plural(p.To.Attempts, "attempt")),
		})
	}
	return items
}

func outcomeText(o session.Outcome) string {
	return o.Tier + " " + waited(o.Waited) + " ×" + strconv.Itoa(o.Attempts)
}

func waited(s session.Seconds) string {
	d := time.Duration(s)
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
