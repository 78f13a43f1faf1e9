package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Conclusion answers what an operator asks first about a waiting pod: since when, why, what would help, and when it is
// tried next.
type Conclusion struct {
	Reason Reason `json:"reason"`
	// Summary is its time in the queue, attempts and tier: "pending 25s, 157 attempts, unschedulable".
	Summary sources.SafeText `json:"summary"`
	// Cause says why it waits. Fix is the smallest known change that would let it run; it may be empty.
	Cause sources.SafeText `json:"cause"`
	Fix   sources.SafeText `json:"fix,omitempty"`
	// Helps is what would let the next attempt succeed, to follow "if". It may be empty.
	Helps sources.SafeText `json:"helps,omitempty"`
	// Next says when it is tried at the latest, and what would make that earlier or successful.
	Next sources.SafeText `json:"next"`
	// Verdict is the second opinion on how the scheduler treats it. Nil if it waits as it should, as far as is known.
	Verdict *opinion.Shown `json:"verdict,omitempty"`
}

// needsAge is how old the needs of a pod may be for a conclusion; it says from when they are.
const needsAge = 5 * time.Second

// Lines returns the sentences in the order in which they are read, after the summary.
func (c *Conclusion) Lines() []string {
	cause := string(c.Cause)
	if c.Fix != "" {
		cause += " " + string(c.Fix)
	}
	return []string{cause, string(c.Next)}
}

// Conclude returns the conclusion about p, or nil if p does not wait. needs is what p needs; without it, or if it is
// unknown or old, the cause is taken from the last attempt's message.
func (m *Moment) Conclude(p *board.Pod, needs *Needs) *Conclusion {
	if !p.Tier.Queued() && p.Tier != queue.InFlight {
		return nil
	}
	if needs != nil && (needs.Unknown != "" || needs.Pod != p.Key || needs.At.After(m.Now) || m.Now.Sub(needs.At) > needsAge) {
		needs = nil
	}
	c := m.cause(p, needs)
	if !p.GoneSince.IsZero() {
		c.Text = fmt.Sprintf("Probably gone since %s: the log goes on without the retry that was due. It last failed because: %s", m.Zone.Second(p.GoneSince), lowerFirst(c.Text))
	}
	if needs != nil && !needs.At.Equal(m.Now) {
		c.Text = fmt.Sprintf("At %s: %s", m.Zone.Clock(needs.At), c.Text)
	}
	return &Conclusion{
		Reason: c.Reason, Summary: sources.Sanitize(m.summary(p)), Cause: sources.Sanitize(c.Text), Fix: sources.Sanitize(c.Fix),
		Helps: sources.Sanitize(c.Helps), Next: sources.Sanitize(m.next(p, c)), Verdict: m.Verdict(p),
	}
}

// Verdict returns the second opinion on p, or nil. A what-if has none: the real scheduler is not in it.
func (m *Moment) Verdict(p *board.Pod) *opinion.Shown {
	if m.WhatIf {
		return nil
	}
	return p.Opinion.Of(p.Key, m.Zone)
}

// isLost reports whether p is in none of the scheduler's queues.
func (m *Moment) isLost(p *board.Pod) bool {
	return p.Opinion != nil && p.Opinion.Code == opinion.Lost && !m.WhatIf
}

// NodesChanged says that p's last attempt saw another number of nodes than its needs were computed from. It is empty if
// the numbers are equal, or if one is unknown.
func (m *Moment) NodesChanged(p *board.Pod, needs *Needs) string {
	v, _ := p.LastVerdict()
	if v == nil || v.Nodes == 0 || needs == nil || needs.Unknown != "" || needs.Pod != p.Key || needs.Nodes == v.Nodes {
		return ""
	}
	when := "now"
	if !needs.At.Equal(m.Now) {
		when = "at " + m.Zone.Second(needs.At)
	}
	are := "are"
	if needs.Nodes == 1 {
		are = "is"
	}
	return fmt.Sprintf("The last attempt, at %s%s, saw %s; %s there %s %d.",
		m.Zone.Second(v.At), orLater(p), words.Plural(v.Nodes, "node"), when, are, needs.Nodes)
}

func (m *Moment) summary(p *board.Pod) string {
	waited := pending(p.WaitedAt(m.Now))
	if p.WaitIsAtLeast() {
		waited = "≥" + waited
	}
	if m.isLost(p) { // its later attempts are the model's
		return fmt.Sprintf("pending %s, in no queue", waited)
	}
	said := fmt.Sprintf("pending %s, %s, %s", waited, p.AttemptCount().Attempts(), inTier(p.Tier))
	if !p.GoneSince.IsZero() {
		said += ", probably gone since " + m.Zone.Second(p.GoneSince)
	}
	return said
}

// pending formats how long a pod has been pending: 25s, 4m10s, 3h5m, 2d4h.
func pending(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return d.Truncate(time.Second).String()
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}

// inTier returns where a pod in t is.
func inTier(t queue.Tier) string {
	switch t {
	case queue.Active:
		return "in activeQ"
	case queue.Backoff:
		return "in backoffQ"
	case queue.InFlight:
		return "being scheduled"
	}
	return words.TierWord(t)
}

// cause returns why p waits.
func (m *Moment) cause(p *board.Pod, needs *Needs) Cause {
	c := m.ownCause(p, needs)
	if q := m.Silent; q != nil && !q.Ended && (q.Profile == "" || q.Profile == p.Object().Spec.SchedulerName) {
		c.Reason, c.Text = SchedulerSilent, q.Sentence(m.Zone)+" "+c.Text
		return c
	}
	if m.WhatIf || p.Opinion == nil {
		return c
	}
	switch p.Opinion.Code {
	case opinion.Lost:
		c.Reason, c.Text = NotInQueue, p.Opinion.Sentence(m.Zone)+" "+c.Text
	case opinion.Starved, opinion.StaleView:
		c.Text = p.Opinion.Sentence(m.Zone) + " " + c.Text
	}
	return c
}

// ownCause is cause for a scheduler that works.
func (m *Moment) ownCause(p *board.Pod, needs *Needs) Cause {
	switch {
	case p.Tier == queue.Gated:
		return gateCause(p)
	case p.Tier == queue.Incomplete:
		return Cause{
			WaitingForPodGroup, fmt.Sprintf("Its PodGroup %s does not exist.", p.Group),
			fmt.Sprintf("Create the PodGroup %s.", p.Group), "the group is created",
		}
	case p.Tier == queue.Pending:
		return Cause{Reason: WaitingForPodGroup, Text: fmt.Sprintf("Its pod group %s is being scheduled.", p.Group)}
	case p.Tier == queue.InFlight:
		return Cause{Reason: BeingScheduled, Text: fmt.Sprintf("Attempt %s has been running since %s.", p.AttemptCount(), m.Zone.Precise(p.Since))}
	}
	if needs != nil && len(needs.Fits) > 0 {
		c := Cause{Reason: Fits, Text: fmt.Sprintf("It fits on %s now.", fitting(needs.Fits))}
		if p.Attempts == 0 {
			c.Reason = Queued
		}
		return c
	}
	c := messageCause(p)
	if needs != nil && c.Reason != SchedulingError {
		c = needs.Cause
		if p.Attempts == 0 {
			c.Text = "It has not been tried yet. " + c.Text
		}
	}
	if p.NominatedNode != "" {
		c.Reason = PreemptionInProgress
		evicts := fmt.Sprintf("Pods are being evicted from %s to make room for it", p.NominatedNode)
		if needs != nil && len(needs.Victims) > 0 {
			evicts += ": " + words.And(firstOf(texts(needs.Victims), victimsShown))
		}
		c.Text = evicts + ". " + c.Text
		c.Fix, c.Helps = "", "the evicted pods end"
	}
	return c
}

// victimsShown limits how many evicted pods are named.
const victimsShown = 3

// fitting names the nodes on which a pod fits.
func fitting(nodes []sources.SafeText) string {
	if more := len(nodes) - 1; more > 0 {
		return fmt.Sprintf("%s and %s", nodes[0], words.Plural(more, "other node"))
	}
	return string(nodes[0])
}

func texts(all []sources.SafeText) []string {
	var plain []string
	for _, t := range all {
		plain = append(plain, string(t))
	}
	return plain
}

// gateOwners are the controllers that remove well-known scheduling gates.
var gateOwners = map[string]string{
	"kueue.x-k8s.io/admission":               "Kueue removes it when it admits the workload",
	"kueue.x-k8s.io/topology":                "Kueue removes it when it has assigned the topology",
	"multiarch.openshift.io/scheduling-gate": "the Multiarch Tuning Operator removes it when it has set the node affinity",
}

// gateCause explains why p is kept out of activeQ.
func gateCause(p *board.Pod) Cause {
	c := Cause{Reason: Gated}
	if gates := p.Object().Spec.SchedulingGates; len(gates) > 0 && (p.GatingPlugin == "" || p.GatingPlugin == queue.SchedulingGates) {
		var gateNames, owners []string
		for _, g := range gates {
			gateNames = append(gateNames, g.Name)
			if owner := gateOwners[g.Name]; owner != "" {
				owners = append(owners, owner)
			}
		}
		c.Text = fmt.Sprintf("Held by the scheduling gate %s.", gateNames[0])
		c.Helps = "the gate is removed"
		if len(gates) > 1 {
			c.Text, c.Helps = fmt.Sprintf("Held by the scheduling gates %s.", words.And(gateNames)), "all gates are removed"
		}
		if len(owners) > 0 {
			c.Fix = strings.ToUpper(owners[0][:1]) + owners[0][1:] + "."
		}
		return c
	}
	switch p.GatingPlugin {
	case "":
		c.Text = "A PreEnqueue plugin keeps it out of activeQ."
	case names.DefaultPreemption:
		c.Reason, c.Text, c.Helps = PreemptionInProgress, "The scheduler is evicting pods for it", "that is done"
		if p.NominatedNode != "" {
			c.Text += " on " + p.NominatedNode
		}
		c.Text += "."
	default:
		c.Text = fmt.Sprintf("%s keeps it out of activeQ.", p.GatingPlugin)
		if p.GateMessage != "" {
			c.Text = fmt.Sprintf("%s keeps it out of activeQ: %s.", p.GatingPlugin, strings.TrimSuffix(string(p.GateMessage), "."))
		}
	}
	return c
}

// helpsShown limits how many changes that would help are listed.
const helpsShown = 3

// noNodesLogged is what the scheduler logs of an attempt that failed with scheduler.ErrNoNodesAvailable.
const noNodesLogged = "no nodes are registered to the cluster"

// messageCause explains why p waits by the message of its last attempt.
func messageCause(p *board.Pod) Cause {
	v, _ := p.LastVerdict()
	rejected := strings.HasPrefix(string(p.Message), verdict.DoesNotFit) // also if the source does not say by which plugins
	switch {
	case p.Attempts == 0:
		return Cause{Reason: Queued, Text: "It has not been tried yet."}
	case string(p.Message) == noNodesLogged || string(p.Message) == scheduler.ErrNoNodesAvailable.Error():
		return Cause{Reason: NoNodes, Text: "Its last attempt found no nodes in the cluster.", Fix: "Add a node.", Helps: "a node is added"}
	case afterError(p) && !rejected && p.Message == "":
		return Cause{Reason: SchedulingError, Text: "Its last attempt failed with an error."}
	case afterError(p) && !rejected:
		return Cause{Reason: SchedulingError, Text: fmt.Sprintf("Its last attempt failed with an error: %s.", strings.TrimSuffix(string(p.Message), "."))}
	case v == nil && len(p.RejectorPlugins()) == 0:
		return Cause{Reason: Unknown, Text: "The source does not show why it was rejected."}
	case v == nil || len(v.Reasons) == 0:
		c := Cause{Reason: OtherPlugin, Text: fmt.Sprintf("Rejected by %s.", words.And(p.RejectorPlugins()))}
		if len(p.RejectorPlugins()) == 0 {
			c.Text = "Rejected."
		}
		if p.Message != "" {
			c.Text = strings.TrimSuffix(c.Text, ".") + ": " + strings.TrimSuffix(string(p.Message), ".") + "."
		}
		return c
	}
	reasons := v.ByPlugin()
	if len(reasons) == 1 && !strings.HasPrefix(string(reasons[0].Text), "node(s) ") && !strings.HasPrefix(string(reasons[0].Text), "Insufficient ") && reasons[0].Text != "Too many pods" {
		return everywhere(reasons[0].Plugin, string(reasons[0].Text))
	}
	var c Cause
	var parts, helps []string
	for i, r := range reasons {
		one, many, help, code := nodesRejected(p.Object(), r)
		if i == 0 || setAside(c.Reason) && !setAside(code) || setAside(c.Reason) == setAside(code) && code.precedes(c.Reason) {
			c.Reason = code
		}
		of := ""
		if i == 0 {
			of = fmt.Sprintf(" of %s", words.Plural(v.Nodes, "node"))
		}
		if r.Nodes == 1 {
			parts = append(parts, fmt.Sprintf("1%s %s", of, one))
		} else {
			parts = append(parts, fmt.Sprintf("%d%s %s", r.Nodes, of, many))
		}
		if help != "" && !slices.Contains(helps, help) && len(helps) < helpsShown {
			helps = append(helps, help)
		}
	}
	switch all := reasons[0].Nodes == v.Nodes && len(reasons) == 1; {
	case all && v.Nodes == 1:
		c.Text = fmt.Sprintf("The only node %s.", strings.TrimPrefix(parts[0], "1 of 1 node "))
	case all:
		c.Text = fmt.Sprintf("All %d nodes %s.", v.Nodes, strings.TrimPrefix(parts[0], fmt.Sprintf("%d of %d nodes ", v.Nodes, v.Nodes)))
	default:
		c.Text = strings.Join(parts, ", ") + "."
	}
	c.Helps = strings.Join(helps, ", or ")
	return c
}

// setAside reports whether nodes that are rejected for r are kept from many pods. A message counts them for that, and
// does not say whether they offer the rest; so it is the reason only if all nodes are.
func setAside(r Reason) bool {
	return r == UntoleratedTaints || r == NodesCordoned || r == NodesNotReady
}

// nodesRejected describes nodes that were rejected for r: what one and what many of them are or do, which change
// would help, and the code.
func nodesRejected(pod *v1.Pod, r verdict.Reason) (one, many, help string, code Reason) {
	text := string(r.Text)
	if name, ok := strings.CutPrefix(text, "Insufficient "); ok {
		for request, q := range requestsOf(pod) {
			if string(request) == name && len(pod.Spec.Containers) > 0 {
				amount := amountOf(name, q)
				return "has less than " + amount + " free", "have less than " + amount + " free", "a node has " + amount + " free", InsufficientResources
			}
		}
		return "has too little " + name + " free", "have too little " + name + " free", "a node has enough " + name + " free", InsufficientResources
	}
	switch r.Plugin {
	case names.NodeResourcesFit:
		if text == "Too many pods" {
			return "runs as many pods as it may", "run as many pods as they may", "a pod leaves a node", InsufficientResources
		}
	case names.NodeAffinity:
		if a := pod.Spec.Affinity; (a == nil || a.NodeAffinity == nil) && len(pod.Spec.NodeSelector) > 0 {
			var selector []string
			for key, value := range pod.Spec.NodeSelector {
				selector = append(selector, key+"="+value)
			}
			slices.Sort(selector)
			labels := "the label " + selector[0]
			if len(selector) > 1 {
				return "lacks one of the labels " + words.And(selector), "lack one of the labels " + words.And(selector), "a node with the labels " + words.And(selector) + " is added", NodeAffinity
			}
			helps := "a node with " + labels + " is added"
			if key, _, _ := strings.Cut(selector[0], "="); !cycle.FixedLabel(key) {
				helps += " or relabelled"
			}
			return "lacks " + labels, "lack " + labels, helps, NodeAffinity
		}
		return "does not match its node affinity", "do not match its node affinity", "a node that matches is added or relabelled", NodeAffinity
	case names.NodeUnschedulable:
		return "is cordoned", "are cordoned", "a node is uncordoned", NodesCordoned
	case names.TaintToleration:
		return untoleratedTaint, untoleratedTaints, "a taint is removed", UntoleratedTaints
	case names.InterPodAffinity:
		if text == interpodaffinity.ErrReasonAffinityRulesNotMatch {
			return "does not match its pod affinity", "do not match its pod affinity", "a matching pod starts", PodAffinity
		}
		return "is ruled out by a pod anti-affinity", "are ruled out by a pod anti-affinity", "a conflicting pod leaves", PodAffinity
	case names.PodTopologySpread:
		return "is ruled out by its topology spread", "are ruled out by its topology spread", "the matching pods spread otherwise", TopologySpread
	case names.NodePorts:
		return "has its host port in use", "have its host port in use", "a pod frees the port", PortConflict
	case names.VolumeBinding, names.VolumeZone, names.VolumeRestrictions, names.NodeVolumeLimits:
		return "can't use its volume", "can't use its volume", "the volume can be used on a node", VolumeConflict
	case names.DynamicResources:
		return "has no device for its claims", "have no device for its claims", "a device is freed", DevicesUnavailable
	}
	plugin := cmp.Or(r.Plugin, "an unknown plugin")
	text = strings.TrimPrefix(text, "node(s) ")
	return fmt.Sprintf("is rejected by %s (%s)", plugin, text), fmt.Sprintf("are rejected by %s (%s)", plugin, text), "", OtherPlugin
}

// next says when p is tried next, and what would help.
func (m *Moment) next(p *board.Pod, c Cause) string {
	said := m.nextTry(p, c)
	switch {
	case m.isLost(p):
		return "Not tried until the pod changes or another scheduler leads."
	case c.Reason == SchedulerSilent:
		return "Not tried until a scheduler runs for it."
	case m.Silent != nil && m.Silent.Ended:
		return "The scheduler has shut down. If it had not: " + lowerFirst(said)
	}
	return said
}

func (m *Moment) nextTry(p *board.Pod, c Cause) string {
	succeeds := ""
	if c.Helps != "" {
		succeeds = fmt.Sprintf(" It can succeed if %s.", c.Helps)
	}
	switch p.Tier {
	case queue.Active:
		if ahead := m.Board.Unfiltered().Index(p); ahead > 0 {
			return fmt.Sprintf("Next try after the %s ahead of it in activeQ.%s", words.Plural(ahead, "pod"), succeeds)
		}
		return "It is tried next." + succeeds
	case queue.InFlight:
		return "If the attempt fails, events received meanwhile may wake it at once."
	case queue.Gated:
		if c.Helps == "" {
			return "Not tried until the plugin lets it pass."
		}
		return fmt.Sprintf("Not tried until %s.", c.Helps)
	case queue.Incomplete, queue.Pending:
		if c.Helps == "" {
			return "It is queued again when that attempt ends."
		}
		return fmt.Sprintf("Not tried until %s.", c.Helps)
	}
	w := m.Wait(p)
	if !p.GoneSince.IsZero() {
		return "If it is gone, it was deleted, or bound by an attempt that the log does not contain."
	}
	if !w.Bounded() {
		return "The time of the next try is unknown." + succeeds
	}
	at, late := m.Zone.Second(w.Until), m.overdue(w.Until)
	if !p.Observed {
		at = "about " + at
	}
	if p.Tier == queue.Backoff {
		sooner := ""
		if w.Early {
			sooner = ", sooner if activeQ is empty"
		}
		return fmt.Sprintf("Next try by %s, when its backoff ends%s.%s%s", at, sooner, late, succeeds)
	}
	said := fmt.Sprintf("Next try by %s (%s timeout).%s", at, words.Short(m.Options.PodMaxInUnschedulablePods), late)
	switch {
	case c.Helps != "":
		return said + fmt.Sprintf(" Sooner, for example, if %s.", c.Helps)
	case c.Reason == Fits:
		return said + " No event has woken it since its last attempt."
	}
	return said
}
