package report

import (
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// Answers compares the model's answers to four questions with the truth's, for each waiting pod once a second: in which tier
// it is, which plugins rejected it, when its backoff ends, and how many attempts it has had. Plugins and attempts are compared
// for pods in backoffQ and unschedulable pods, the end of the backoff only for pods in backoffQ.
type Answers struct {
	Tier     Answer `json:"tier"`
	Plugins  Answer `json:"plugins"`
	Return   Answer `json:"return"`   // right within a second
	Attempts Answer `json:"attempts"` // right within one attempt, or 5 %
	// LongestWrong is the longest time in seconds for which the tier of a pod was wrong, and Of is that pod. Both are empty if
	// no tier was wrong.
	LongestWrong int    `json:"longestWrongSeconds"`
	Of           string `json:"longestWrongPod,omitempty"`
}

// Answer counts how often an answer was compared, and how often it was right.
type Answer struct {
	Asked int `json:"asked"`
	Right int `json:"right"`
}

// Share returns the share of right answers, or 1 if there are none.
func (a Answer) Share() float64 { return share(a.Right, a.Asked) }

func (a *Answer) add(asked int, right bool) {
	if a.Asked += asked; right {
		a.Right += asked
	}
}

// podState is a pod's state in one run, besides its tier.
type podState struct {
	attempts int
	expiry   time.Time
	plugins  string
}

func podStateOf(p *board.Pod) podState {
	plugins := slices.Concat(p.UnschedulablePlugins, p.PendingPlugins)
	slices.Sort(plugins)
	return podState{p.Attempts, p.BackoffExpiry, strings.Join(plugins, ",")}
}

// answeredPod is a pod of which answers are compared.
type answeredPod struct {
	states [2]podState // by run
	wrong  int         // for how many seconds the model has had it in a wrong tier
}

// compare compares the answers about p at each half second from from to until, between which neither run moved it.
func (a *Answers) compare(p *comparedPod, from, until moment) {
	tier := p.tiers[want]
	if p.answers == nil {
		return
	}
	if !tier.Queued() {
		p.answers.wrong = 0
		return
	}
	const second, half = moment(time.Second), moment(time.Second / 2)
	n := int((until+half-1)/second - (from+half-1)/second) // from is included, until is not
	if n <= 0 {
		return
	}
	right := p.tiers[got] == tier
	a.Tier.add(n, right)
	if right {
		p.answers.wrong = 0
	} else if p.answers.wrong += n; p.answers.wrong > a.LongestWrong {
		a.LongestWrong, a.Of = p.answers.wrong, p.name.String()
	}
	if tier != queue.Backoff && tier != queue.Unschedulable {
		return
	}
	truth, model, exists := p.answers.states[want], p.answers.states[got], p.tiers[got] != queue.None
	a.Plugins.add(n, exists && model.plugins == truth.plugins)
	a.Attempts.add(n, exists && float64(max(model.attempts-truth.attempts, truth.attempts-model.attempts)) <= max(1, 0.05*float64(truth.attempts)))
	if tier == queue.Backoff && !truth.expiry.IsZero() {
		a.Return.add(n, exists && model.expiry.Sub(truth.expiry).Abs() <= time.Second)
	}
}
