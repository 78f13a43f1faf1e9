package report

import (
	"slices"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// Answers compares the answers to four questions about a waiting pod, asked of every pod once a second: in which tier is it,
// which plugins rejected it, when does its backoff end, and how many attempts has it had. The last three are asked of pods in
// backoffQ and among the unschedulable, the time of return in backoffQ alone.
type Answers struct {
	Tier     Answer `json:"tier"`
	Plugins  Answer `json:"plugins"`
	Return   Answer `json:"return"`   // right within a second
	Attempts Answer `json:"attempts"` // right within one attempt, or 5 %
	// LongestWrong is the longest time in seconds for which a pod's tier was wrong, and Of that pod, or empty.
	LongestWrong int    `json:"longestWrongSeconds"`
	Of           string `json:"longestWrongPod,omitempty"`
}

// Answer counts how often a question was asked and answered rightly.
type Answer struct {
	Asked int `json:"asked"`
	Right int `json:"right"`
}

// Share returns the share of right answers, or 1 if the question was never asked.
func (a Answer) Share() float64 { return share(a.Right, a.Asked) }

func (a *Answer) add(asked int, right bool) {
	if a.Asked += asked; right {
		a.Right += asked
	}
}

// shown is what a run shows of a pod beside its tier.
type shown struct {
	attempts int
	expiry   time.Time
	plugins  string
}

func shownOf(p *board.Pod) shown {
	plugins := slices.Concat(p.UnschedulablePlugins, p.PendingPlugins)
	slices.Sort(plugins)
	return shown{p.Attempts, p.BackoffExpiry, strings.Join(plugins, ",")}
}

// asked is what the questions about a pod are asked of.
type asked struct {
	shown [2]shown // what each run shows
	wrong int      // seconds in a row in which the model has had it in another tier
}

// answers are the answers so far.
type answers struct{ Answers }

// ask asks the questions about p at each half second between from and until, when neither run moved it.
func (a *answers) ask(p *comparedPod, from, until moment) {
	tier := p.tiers[want]
	if p.asked == nil {
		return
	}
	if !tier.Queued() {
		p.asked.wrong = 0
		return
	}
	const second, half = moment(time.Second), moment(time.Second / 2)
	n := int((until+half-1)/second - (from+half-1)/second) // the half seconds at and after from, before until
	if n <= 0 {
		return
	}
	right := p.tiers[got] == tier
	a.Tier.add(n, right)
	if right {
		p.asked.wrong = 0
	} else if p.asked.wrong += n; p.asked.wrong > a.LongestWrong {
		a.LongestWrong, a.Of = p.asked.wrong, p.name.String()
	}
	if tier != queue.Backoff && tier != queue.Unschedulable {
		return
	}
	truth, model, there := p.asked.shown[want], p.asked.shown[got], p.tiers[got] != queue.None
	a.Plugins.add(n, there && model.plugins == truth.plugins)
	a.Attempts.add(n, there && float64(max(model.attempts-truth.attempts, truth.attempts-model.attempts)) <= max(1, 0.05*float64(truth.attempts)))
	if tier == queue.Backoff && !truth.expiry.IsZero() {
		a.Return.add(n, there && model.expiry.Sub(truth.expiry).Abs() <= time.Second)
	}
}
