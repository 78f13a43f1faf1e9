package explain

import (
	"fmt"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/reason"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Explanation is all about one pod at one moment: where it is, why, when it is tried next, and what it
// would need. See docs/reference/outputs.md.
type Explanation struct {
	Source sources.SafeText `json:"source"`
	Time   time.Time        `json:"time"`
	Pod    sources.SafeText `json:"pod"`
	// Conclusion is nil if the pod has left the queue.
	*Conclusion
	// Missed is the verdict on a pod that has left the queue: it missed a wake-up.
	Missed *opinion.Shown `json:"missed,omitempty"`

	Tier       string    `json:"tier"`
	Since      time.Time `json:"since"`
	Provenance string    `json:"provenance"`
	Attempts   int       `json:"attempts"`
	// AttemptsAtLeast is true if Attempts is a lower bound, and SinceAtEarliest if the pod may have come to
	// its tier later: it is older than the source.
	AttemptsAtLeast bool `json:"attemptsAtLeast,omitempty"`
	SinceAtEarliest bool `json:"sinceAtEarliest,omitempty"`
	// Priority is nil if the pod's object is unknown.
	Priority             *int32           `json:"priority,omitempty"`
	Node                 sources.SafeText `json:"node,omitempty"`
	NominatedNode        sources.SafeText `json:"nominatedNode,omitempty"`
	UnschedulablePlugins []string         `json:"unschedulablePlugins,omitempty"`
	PendingPlugins       []string         `json:"pendingPlugins,omitempty"`
	GatingPlugin         string           `json:"gatingPlugin,omitempty"`
	// GateMessage is the message of GatingPlugin, Gates the pod's scheduling gates.
	GateMessage sources.SafeText   `json:"gateMessage,omitempty"`
	Gates       []sources.SafeText `json:"gates,omitempty"`
	// PendingSince is when the pod entered the queue. LastWoken is the last event that took it out of the
	// unschedulable or gated pods; nil if none is known.
	PendingSince time.Time `json:"pendingSince"`
	// PendingSinceAtLatest is true if the pod may have entered earlier: the source shows neither its creation nor its arrival.
	PendingSinceAtLatest bool `json:"pendingSinceAtLatest,omitempty"`
	// GoneSince is since when the pod is probably gone. Nil for others.
	GoneSince *time.Time `json:"probablyGoneSince,omitempty"`
	LastWoken *Woke      `json:"lastWoken,omitempty"`
	// Why are the sentences of Frame.Explain.
	Why []sources.SafeText `json:"why"`

	LastAttempt *AttemptExplanation `json:"lastAttempt,omitempty"`
	NextTry     *NextTry            `json:"nextTry,omitempty"`
	IfWoken     *WokenExplanation   `json:"ifWokenNow,omitempty"`
	WokenBy     []PluginWakes       `json:"wokenBy,omitempty"`
	// Needs is nil if it is unknown, or if the pod has left the queue.
	Needs *Needs `json:"needs,omitempty"`
	// SchedulerEnded is when the scheduler shut down, according to its log. Nil if it had not by then, or if that
	// is unknown.
	SchedulerEnded *time.Time `json:"schedulerEnded,omitempty"`
	// Notes say what is modelled, and what is missing.
	Notes []string `json:"notes,omitempty"`
}

// Woke is an event that woke a pod.
type Woke struct {
	Time  time.Time `json:"time"`
	Event string    `json:"event"`
}

// AttemptExplanation is the result of the last failed attempt.
type AttemptExplanation struct {
	Time time.Time `json:"time"`
	// Provenance is "observed" if Message is the scheduler's own, "modelled" if it is the model's.
	Provenance string           `json:"provenance"`
	Nodes      int              `json:"nodes,omitempty"`
	Reasons    []PluginReason   `json:"reasons,omitempty"`
	Message    sources.SafeText `json:"message"`
	// PostFilter says what the PostFilter plugins reported, usually about preemption. It may be empty.
	PostFilter sources.SafeText `json:"postFilter,omitempty"`
}

// PluginReason counts the nodes that a plugin rejected for a reason.
type PluginReason struct {
	// Plugin is empty if the message does not imply it.
	Plugin string           `json:"plugin,omitempty"`
	Reason sources.SafeText `json:"reason"`
	Nodes  int              `json:"nodes"`
}

// NextTry is when the pod moves to activeQ at the latest.
type NextTry struct {
	Latest time.Time `json:"latest"`
	// By is upstream's label of the event that moves it then.
	By string `json:"by"`
	// Early is true if it may move earlier.
	Early bool `json:"mayBeEarlier"`
}

// WokenExplanation is where an event would move the pod now.
type WokenExplanation struct {
	Tier  string     `json:"tier"`
	Until *time.Time `json:"until,omitempty"`
}

// Opinion returns the second opinion on the pod, or nil.
func (x *Explanation) Opinion() *opinion.Shown {
	if x.Conclusion != nil {
		return x.Verdict
	}
	return x.Missed
}

// followsLogged reports whether a move rests on the scheduler's log, which has the one before it.
func followsLogged(t *board.Transition) bool {
	return t != nil && !t.Observed && t.Prev() != nil && t.Prev().Observed
}

// Explanation returns what the moment shows about p. needs is what p needs at this moment; it may be nil.
func (m *Moment) Explanation(p *board.Pod, needs *Needs) *Explanation {
	x := &Explanation{
		Time: m.Now.UTC(), Pod: sources.Sanitize(p.Key.String()),
		Tier: p.Tier.String(), Since: p.Since.UTC(), Provenance: p.Provenance(), Attempts: p.Attempts,
		AttemptsAtLeast: p.AttemptsAtLeast, SinceAtEarliest: p.SinceIsEarliest(),
		Node: sources.Sanitize(p.Node), NominatedNode: sources.Sanitize(p.NominatedNode),
		UnschedulablePlugins: p.UnschedulablePlugins, PendingPlugins: p.PendingPlugins, GatingPlugin: p.GatingPlugin,
		GateMessage: p.GateMessage, PendingSince: p.Arrived.UTC(), PendingSinceAtLatest: p.WaitIsAtLeast(), Conclusion: m.Conclude(p, needs), LastWoken: lastWoken(p), Needs: needs,
	}
	if !p.GoneSince.IsZero() {
		gone := p.GoneSince.UTC()
		x.GoneSince = &gone
	}
	if p.Tier == queue.Gated {
		for _, g := range p.Object().Spec.SchedulingGates {
			x.Gates = append(x.Gates, sources.Sanitize(g.Name))
		}
	}
	for _, sentence := range m.Explain(p) {
		x.Why = append(x.Why, sources.Sanitize(sentence))
	}
	if p.PriorityKnown() {
		x.Priority = &p.Priority
	}
	switch {
	case p.Observed:
	case p.Estimated:
		x.Notes = append(x.Notes, "The pod is older than schedq's observations: until its next attempt, its attempts, times and tier are estimated from its condition and the scheduler's Events.")
	case p.Cause == nil && p.Tier.Queued() && followsLogged(p.Last):
		x.Notes = append(x.Notes, "The scheduler's log has no line on where the pod went after its last attempt. schedq shows it where kube-scheduler puts such a pod.")
	default:
		x.Notes = append(x.Notes, "The pod's tier, time there and attempts are modelled: only a scheduler log at -v=5 contains them.")
		if b := p.Cause; b != nil && b.Rule != reason.ByQueue {
			x.Notes = append(x.Notes, "Why it is there: "+b.Sentence(m.Zone))
		}
	}
	switch {
	case m.isLost(p):
		x.Notes = append(x.Notes, "Its tier and attempts since then are those of the model, which goes on trying it.")
	case p.Tier.Queued() || p.Tier == queue.InFlight:
		m.explainAttempt(p, x)
		if changed := m.NodesChanged(p, needs); changed != "" {
			x.Notes = append(x.Notes, changed)
		}
	}
	if m.Assumed != "" && p.Tier.Queued() {
		x.Notes = append(x.Notes, m.Assumed)
	}
	x.NextTry = m.NextTry(p)
	if p.Opinion != nil && x.Conclusion == nil { // it was bound
		x.Missed = m.Verdict(p)
	}
	if w, waits := m.IfWoken(p); waits {
		x.IfWoken = &WokenExplanation{Tier: w.Tier.String()}
		if w.Tier == queue.Backoff {
			until := w.Until.UTC()
			x.IfWoken.Until = &until
		}
	}
	if last := p.Last.LastWait(); last != nil && (p.Tier == queue.Scheduled || p.Tier == queue.Deleted) {
		x.Notes = append(x.Notes, fmt.Sprintf("The pod has left the queue. It last waited (%s) until %s: choose an earlier time.",
			words.TierWord(last.From), m.Zone.Precise(last.Time)))
	}
	return x
}

// Unserved returns the explanation of a pod that no scheduler works on.
func (m *Moment) Unserved(p *board.Pod) *Explanation {
	v := p.Opinion.Of(p.Key, m.Zone)
	x := &Explanation{
		Time: m.Now.UTC(), Pod: sources.Sanitize(p.Key.String()), Tier: p.Tier.String(), Since: p.Arrived.UTC(), Provenance: p.Provenance(), PendingSince: p.Arrived.UTC(),
		Conclusion: &Conclusion{Reason: SchedulerSilent, Summary: sources.Sanitize(fmt.Sprintf("pending %s, in no queue", pending(m.Now.Sub(p.Arrived)))),
			Cause: v.Sentence, Next: "Not tried until a scheduler runs for it.", Verdict: v},
		Why: []sources.SafeText{v.Sentence},
	}
	if p.PriorityKnown() {
		x.Priority = &p.Priority
	}
	return x
}

// NextTry returns when p moves to activeQ at the latest. It is nil if that is unknown, and for a pod in activeQ or in
// flight. For a gated pod the flush only checks the gate, so it is nil, too.
func (m *Moment) NextTry(p *board.Pod) *NextTry {
	w := m.Wait(p)
	if !w.Bounded() || m.isLost(p) || p.Tier == queue.Gated || !p.GoneSince.IsZero() {
		return nil
	}
	next := &NextTry{Latest: w.Until.UTC(), By: queue.BackoffComplete, Early: w.Early}
	if p.Tier == queue.Unschedulable {
		next.By = queue.UnschedulableTimeout
	}
	return next
}

// lastWoken returns the last event that moved p to activeQ or backoffQ.
func lastWoken(p *board.Pod) *Woke {
	if t := p.Last.LastWake(); t != nil {
		return &Woke{t.Time.UTC(), t.Event}
	}
	return nil
}

func (m *Moment) explainAttempt(p *board.Pod, x *Explanation) {
	v, modelled := p.LastVerdict()
	if v == nil {
		return
	}
	x.LastAttempt = &AttemptExplanation{
		Time: v.At.UTC(), Provenance: board.Provenance(!modelled), Nodes: v.Nodes, Message: v.Message,
		PostFilter: sources.Sanitize(PostFilterOf(v, p)),
	}
	for _, r := range v.ByPlugin() {
		x.LastAttempt.Reasons = append(x.LastAttempt.Reasons, PluginReason{r.Plugin, r.Text, r.Nodes})
	}
	if modelled {
		x.Notes = append(x.Notes, "The last attempt is modelled.")
	}
}
