package session

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/sources"
)

// Explanation is all about one pod at one moment: where it is, why, when it is tried next, and what it
// would need. See docs/explain.md.
type Explanation struct {
	Source sources.SafeText `json:"source"`
	Time   time.Time        `json:"time"`
	Pod    sources.SafeText `json:"pod"`

	Tier       string    `json:"tier"`
	Since      time.Time `json:"since"`
	Provenance string    `json:"provenance"`
	Attempts   int       `json:"attempts"`
	// Priority is nil if the pod's object is not known.
	Priority             *int32           `json:"priority,omitempty"`
	Node                 sources.SafeText `json:"node,omitempty"`
	NominatedNode        sources.SafeText `json:"nominatedNode,omitempty"`
	UnschedulablePlugins []string         `json:"unschedulablePlugins,omitempty"`
	PendingPlugins       []string         `json:"pendingPlugins,omitempty"`
	GatingPlugin         string           `json:"gatingPlugin,omitempty"`
	// Why are the sentences of Frame.Explain.
	Why []sources.SafeText `json:"why"`

	LastAttempt *AttemptExplanation `json:"lastAttempt,omitempty"`
	NextTry     *NextTry            `json:"nextTry,omitempty"`
	IfWoken     *WokenExplanation   `json:"ifWokenNow,omitempty"`
	WokenBy     []PluginWakes       `json:"wokenBy,omitempty"`
	// Needs is nil if they are not known, or the pod has left the queue.
	Needs *Needs `json:"needs,omitempty"`
	// Notes say what of this is modelled, and what is missing.
	Notes []string `json:"notes,omitempty"`
}

// AttemptExplanation is what the last failed attempt came to.
type AttemptExplanation struct {
	Time time.Time `json:"time"`
	// Provenance is "observed" if this is the scheduler's own message, "modelled" if the model counted.
	Provenance string           `json:"provenance"`
	Nodes      int              `json:"nodes,omitempty"`
	Reasons    []PluginReason   `json:"reasons,omitempty"`
	Message    sources.SafeText `json:"message"`
	// Rest is what the message says besides the reasons: of preemption.
	Rest string `json:"-"`
}

// PluginReason counts the nodes that a plugin turned down for a reason.
type PluginReason struct {
	// Plugin is empty if the message does not tell.
	Plugin string           `json:"plugin,omitempty"`
	Reason sources.SafeText `json:"reason"`
	Nodes  int              `json:"nodes"`
}

// NextTry is when the pod goes to activeQ at the latest.
type NextTry struct {
	Latest time.Time `json:"latest"`
	// By is the event that takes it then, in upstream's label.
	By string `json:"by"`
	// Early is true if it may go earlier.
	Early bool `json:"mayBeEarlier"`
}

// WokenExplanation is where the pod would go if an event woke it now.
type WokenExplanation struct {
	Tier  string     `json:"tier"`
	Until *time.Time `json:"until,omitempty"`
}

// Span returns the first and the last moment of rec that can be explained.
func Span(rec *sources.Recording) (start, end time.Time) { return span(rec) }

// replaySteps is in how many parts the way to a moment is gone, to hear of a cancellation between them.
const replaySteps = 100

// ExplainPod replays rec up to at, and explains the pod there.
func ExplainPod(ctx context.Context, rec *sources.Recording, opts Options, key types.NamespacedName, at time.Time) (*Explanation, error) {
	cfg, err := opts.scheduler(rec)
	if err != nil {
		return nil, err
	}
	plugins, err := cycle.PluginsOf(cfg)
	if err != nil {
		return nil, err
	}
	opts.Paused, opts.Opens = true, 0
	o := newOwner(rec, opts)
	defer o.recording.feed.close()
	for i, way := 1, at.Sub(o.now); i <= replaySteps; i++ {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		o.show(at.Add(-way / replaySteps * time.Duration(replaySteps-i)))
	}
	if err := o.recording.feed.failed; err != nil {
		return nil, err
	}
	f := o.frame()
	p := f.Board.Get(key)
	if p == nil {
		return nil, o.unknown(key)
	}
	x := f.explanation(p)
	if p.Tier.Queued() || p.Tier == queue.InFlight {
		o.explainNeeds(p, x)
	}
	f.wakes = newWakes(plugins)
	x.WokenBy = f.Wakes(p)
	return x, nil
}

// explanation is what f itself tells of p.
func (f *Frame) explanation(p *Pod) *Explanation {
	x := &Explanation{
		Source: f.Name, Time: f.Now.UTC(), Pod: sources.Sanitize(p.Key.String()),
		Tier: p.Tier.String(), Since: p.Since.UTC(), Provenance: p.Provenance(), Attempts: p.Attempts,
		Node: sources.Sanitize(p.Node), NominatedNode: sources.Sanitize(p.NominatedNode),
		UnschedulablePlugins: p.UnschedulablePlugins, PendingPlugins: p.PendingPlugins, GatingPlugin: p.GatingPlugin,
	}
	for _, sentence := range f.Explain(p) {
		x.Why = append(x.Why, sources.Sanitize(sentence))
	}
	if p.PriorityKnown() {
		x.Priority = &p.Priority
	}
	switch {
	case p.Observed:
	case p.Estimated:
		x.Notes = append(x.Notes, "The pod was there before: its attempts, its times and its place are estimated by its condition and the scheduler's Events, until its next attempt.")
	default:
		x.Notes = append(x.Notes, "Where the pod is, since when and after how many attempts is modelled: the recording does not tell.")
	}
	if p.Tier.Queued() || p.Tier == queue.InFlight {
		f.explainAttempt(p, x)
	}
	if w := f.Wait(p); w.Bounded() && p.Tier != queue.Gated { // of a gated pod only the gate is asked then
		x.NextTry = &NextTry{Latest: w.Until.UTC(), By: queue.BackoffComplete, Early: w.Early}
		if p.Tier == queue.Unschedulable {
			x.NextTry.By = queue.UnschedulableTimeout
		}
	}
	if w, waits := f.IfWoken(p); waits {
		x.IfWoken = &WokenExplanation{Tier: w.Tier.String()}
		if w.Tier == queue.Backoff {
			until := w.Until.UTC()
			x.IfWoken.Until = &until
		}
	}
	if last := lastWait(p); last != nil && (p.Tier == queue.Scheduled || p.Tier == queue.Deleted) {
		x.Notes = append(x.Notes, fmt.Sprintf("It has left the queue. It last waited, %s, until %s: ask for a moment before that.",
			tierWord(last.From), last.Time.UTC().Format("15:04:05.000")))
	}
	return x
}

func (f *Frame) explainAttempt(p *Pod, x *Explanation) {
	v, modelled := p.LastVerdict()
	if v == nil {
		return
	}
	x.LastAttempt = &AttemptExplanation{
		Time: v.At.UTC(), Provenance: provenance(!modelled), Nodes: v.Nodes, Message: v.Message, Rest: v.Rest(),
	}
	for _, r := range v.ByPlugin() {
		x.LastAttempt.Reasons = append(x.LastAttempt.Reasons, PluginReason{r.Plugin, r.Text, r.Nodes})
	}
	if modelled {
		x.Notes = append(x.Notes, "The last attempt is a modelled one.")
	}
}

// lastWait is the last move of p out of backoffQ, or out of the unschedulable or gated pods. Nil if it never
// waited.
func lastWait(p *Pod) *Transition {
	for t := p.Last; t != nil; t = t.Prev {
		if t.From != t.To && (t.From == queue.Backoff || t.From == queue.Unschedulable || t.From == queue.Gated) {
			return t
		}
	}
	return nil
}

// explainNeeds adds what p would need to x, or why that is not known.
func (o *owner) explainNeeds(p *Pod, x *Explanation) {
	n, err := o.findNeeds(p)
	if err != nil {
		x.Notes = append(x.Notes, fmt.Sprintf("What it needs is not known: %s.", err))
		return
	}
	x.Needs = n
	x.Notes = append(x.Notes, "What it needs is worked out by kube-scheduler v1.37's own plugins over the objects of that moment; "+
		"pods that are placed, but not bound yet, take no room.")
}

// unknown says why the queue does not know a pod of the recording at the moment shown.
func (o *owner) unknown(key types.NamespacedName) error {
	now := clock(o.now)
	if pod := o.recording.engine.objects.pod(key); pod != nil && pod.Spec.NodeName != "" {
		return fmt.Errorf("%s was not in the queue up to %s: it runs on %s", sources.Sanitize(key.String()), now, sources.Sanitize(pod.Spec.NodeName))
	} else if pod != nil {
		return fmt.Errorf("%s was not in the queue up to %s: its scheduler is %s, its phase %s", sources.Sanitize(key.String()), now,
			sources.Sanitize(pod.Spec.SchedulerName), sources.Sanitize(string(pod.Status.Phase)))
	}
	for _, ev := range o.rec.Events {
		if k, ok := podOf(ev); ok && k == key && ev.Time.After(o.now) {
			return fmt.Errorf("the queue did not know %s at %s: it came at %s", sources.Sanitize(key.String()), now, clock(ev.Time))
		}
	}
	return fmt.Errorf("the queue did not know %s at %s", sources.Sanitize(key.String()), now)
}
