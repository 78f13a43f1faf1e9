package explain

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/queue/session/words"
)

// Cause says why a pod does not fit, and what would have to change.
type Cause struct {
	Reason Reason
	// Text names in a sentence or two what no node offers.
	Text string
	// Fix is the smallest change that makes the pod fit, as a sentence. Empty if none is known.
	Fix string
	// Helps says which changes would let the next attempt succeed, to follow "if". Empty if unknown.
	Helps string
}

// requirement is something that a pod requires of a node and the node does not offer. Two lacks with equal
// requirements are the same.
type requirement struct {
	reason Reason
	// has completes "no node has": "the label disk=ssd", "6 CPUs free". Empty if the requirement is not to be
	// something; then one and many are what such nodes are or do: "is cordoned", "are cordoned".
	has, one, many string
}

// change is what would have to change on a node: to follow "NODE needs only", and as a clause.
type change struct{ needs, does string }

// findCause explains a diagnosis of pod. It must not be called if the pod fits somewhere.
func findCause(pod *v1.Pod, d *cycle.Diagnosis) Cause {
	switch {
	case d.Nodes == 0:
		return Cause{Reason: NoNodes, Text: "The cluster has no nodes.", Fix: "Add a node.", Helps: "a node is added"}
	case len(d.Everywhere) > 0:
		return everywhereCause(pod, d)
	}
	return nodesCause(pod, d)
}

// everywhereCause explains what keeps pod off every node regardless of the node.
func everywhereCause(pod *v1.Pod, d *cycle.Diagnosis) Cause {
	var texts []string
	c := Cause{Reason: OtherPlugin}
	for _, l := range d.Everywhere {
		for _, reason := range l.Reasons {
			one := everywhere(l.Plugin, reason)
			if reason == verdict.UnboundClaims && len(d.Unbound) > 0 {
				one.Text = fmt.Sprintf("PersistentVolumeClaim %s is not bound.", words.And(d.Unbound))
			}
			repeated := c.Reason == ClaimNotReady && one.Reason == ClaimNotReady && l.Plugin == names.VolumeZone
			if repeated || slices.Contains(texts, one.Text) {
				continue // several plugins check a claim
			}
			if one.Reason.precedes(c.Reason) {
				c.Reason = one.Reason
			}
			texts = append(texts, one.Text)
			c.Fix, c.Helps = cmp.Or(c.Fix, one.Fix), cmp.Or(c.Helps, one.Helps)
		}
	}
	c.Text = strings.Join(texts, " ")
	if !slices.ContainsFunc(d.Rejected, func(n cycle.NodeLacks) bool { return len(n.Lacks) == 0 }) {
		also := nodesCause(pod, d)
		c.Fix = strings.TrimSpace(c.Fix + " Besides, " + lowerFirst(also.Text))
	}
	return c
}

// everywhere explains a plugin's rejection of all nodes at once.
func everywhere(plugin, reason string) Cause {
	reason = strings.TrimSuffix(reason, ".")
	claim, missing := strings.CutSuffix(reason, " not found")
	claim, isClaim := strings.CutPrefix(claim, "persistentvolumeclaim ")
	switch {
	case missing && isClaim:
		return Cause{
			ClaimNotReady, fmt.Sprintf("PersistentVolumeClaim %s does not exist.", claim),
			fmt.Sprintf("Create PersistentVolumeClaim %s.", claim), "the claim is created",
		}
	case reason == verdict.UnboundClaims, reason == "PersistentVolume had no name": // by VolumeBinding and VolumeZone
		return Cause{
			ClaimNotReady, "A PersistentVolumeClaim of the pod is not bound.",
			"Check the claim's storage class and its provisioner.", "the claim is bound",
		}
	case plugin == names.DynamicResources:
		return Cause{ClaimNotReady, fmt.Sprintf("A device claim is not ready: %s.", reason), "", "the claim is ready"}
	case verdict.IsClaimNotReady(plugin, reason):
		return Cause{ClaimNotReady, fmt.Sprintf("A volume is not ready: %s.", reason), "", "the volume is ready"}
	}
	return Cause{OtherPlugin, fmt.Sprintf("%s rejects it on every node: %s.", cmp.Or(plugin, "A plugin"), reason), "", ""}
}

// nodesCause explains why pod fits on none of the nodes. It looks for the smallest set of requirements of which every
// node misses at least one: that none meets all of them is the reason, whatever else single nodes lack.
func nodesCause(pod *v1.Pod, d *cycle.Diagnosis) Cause {
	var all []requirement
	masks := make([]uint64, len(d.Rejected))
	for i, n := range d.Rejected {
		for _, l := range n.Lacks {
			for _, r := range requirements(pod, l) {
				k := slices.Index(all, r)
				if k < 0 && len(all) < 64 {
					k, all = len(all), append(all, r)
				}
				if k >= 0 {
					masks[i] |= 1 << k
				}
			}
		}
	}
	set := smallestSet(all, masks)
	if set == 0 {
		return Cause{Reason: OtherPlugin, Text: fmt.Sprintf("It fits on none of the %d nodes.", d.Nodes)}
	}
	var has, not []int
	c := Cause{}
	for k, r := range all {
		if set&(1<<k) == 0 {
			continue
		}
		if r.has != "" {
			has = append(has, k)
		} else {
			not = append(not, k)
		}
	}
	slices.SortStableFunc(has, func(a, b int) int { return all[a].reason.compare(all[b].reason) })
	slices.SortStableFunc(not, func(a, b int) int { return all[a].reason.compare(all[b].reason) })
	if len(not) > 0 { // nodes that have all the pod wants exist
		c.Reason = all[not[0]].reason
	} else {
		c.Reason = all[has[0]].reason
	}
	offers := make([]string, len(has))
	for i, k := range has {
		offers[i] = all[k].has
	}
	c.Text = sentence(d, all, masks, has, not)
	if c.Reason == InsufficientResources {
		c.resources(d)
	}
	if name := notOffered(d); name != "" {
		c.Reason, c.Text = ResourceNotOffered, fmt.Sprintf("No node offers %s.", name)
	}
	c.nameTaints(d, set, all)
	c.Text += spreadText(d, set, all) + volumeText(d, set, all) + conflictText(d, set, all)
	c.closest(d, offers, allowedDomains(d, set, all))
	return c
}

// smallestSet returns the smallest set of requirements that every mask intersects, as a mask; among equally small ones,
// the one whose reasons have precedence. It is 0 if a node has no requirement.
func smallestSet(all []requirement, masks []uint64) uint64 {
	distinct := map[uint64]bool{}
	for _, m := range masks {
		if m == 0 {
			return 0
		}
		distinct[m] = true
	}
	order := make([]int, len(all)) // reasons with precedence first
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return all[a].reason.compare(all[b].reason) })
	var found uint64
	var search func(from, left int, set uint64) bool
	search = func(from, left int, set uint64) bool {
		if left == 0 {
			for m := range distinct {
				if m&set == 0 {
					return false
				}
			}
			found = set
			return true
		}
		for i := from; i < len(order); i++ {
			if search(i+1, left-1, set|1<<order[i]) {
				return true
			}
		}
		return false
	}
	const exhaustive = 4 // larger sets would take too long, and nobody could read the sentence
	for size := 1; size <= min(exhaustive, len(order)); size++ {
		if search(0, size, 0) {
			return found
		}
	}
	for len(distinct) > 0 { // the requirement that most of the remaining nodes miss
		best, most := 0, 0
		for k := range all {
			n := 0
			for m := range distinct {
				n += int(m >> k & 1)
			}
			if n > most {
				best, most = k, n
			}
		}
		found |= 1 << best
		maps.DeleteFunc(distinct, func(m uint64, _ bool) bool { return m>>best&1 == 1 })
	}
	return found
}

// sentence says that no node has what has lists, or what keeps the pod off those that do.
func sentence(d *cycle.Diagnosis, all []requirement, masks []uint64, has, not []int) string {
	var offers []string
	var hasMask uint64
	for _, k := range has {
		offers, hasMask = append(offers, all[k].has), hasMask|1<<k
	}
	if len(not) == 0 {
		if d.Nodes == 1 {
			return fmt.Sprintf("The only node does not have %s.", words.And(offers))
		}
		if len(offers) == 2 {
			return fmt.Sprintf("No node has both %s.", words.And(offers))
		}
		return fmt.Sprintf("No node has %s.", words.And(offers))
	}
	counts := make([]int, len(not))
	total := 0
	for _, m := range masks {
		if m&hasMask != 0 {
			continue
		}
		total++
		for i, k := range not {
			if m&(1<<k) != 0 {
				counts[i]++
				break
			}
		}
	}
	var why []string
	for i, k := range not {
		switch n := counts[i]; {
		case n == 0:
		case n == total && n == 1:
			why = append(why, all[k].one)
		case n == total:
			why = append(why, all[k].many)
		case n == 1:
			why = append(why, "1 "+all[k].one)
		default:
			why = append(why, fmt.Sprintf("%d %s", n, all[k].many))
		}
	}
	switch {
	case len(has) == 0 && d.Nodes == 1:
		return fmt.Sprintf("The only node %s.", words.And(why))
	case len(has) == 0 && len(why) == 1:
		return fmt.Sprintf("All %d nodes %s.", d.Nodes, why[0])
	case len(has) == 0:
		return fmt.Sprintf("Of %d nodes, %s.", d.Nodes, words.And(why))
	case total == 1:
		return fmt.Sprintf("The only node with %s %s.", words.And(offers), words.And(why))
	case len(why) == 1:
		return fmt.Sprintf("The %d nodes with %s %s.", total, words.And(offers), why[0])
	}
	return fmt.Sprintf("Of the %d nodes with %s, %s.", total, words.And(offers), words.And(why))
}

// requirements returns what of pod's requirements l is about.
func requirements(pod *v1.Pod, l cycle.Lack) []requirement {
	is := func(reason Reason, one, many string) []requirement {
		return []requirement{{reason: reason, one: one, many: many}}
	}
	var all []requirement
	for _, r := range l.Resources {
		has := amountOf(string(r.Resource), r.Needs) + " free"
		if r.Resource == v1.ResourcePods {
			has = "room for one more pod"
		}
		all = append(all, requirement{reason: InsufficientResources, has: has})
	}
	for _, label := range l.Labels {
		all = append(all, requirement{reason: NodeAffinity, has: "the label " + label})
	}
	for _, t := range l.Taints {
		switch t.Key {
		case v1.TaintNodeUnschedulable:
			all = append(all, is(NodesCordoned, "is cordoned", "are cordoned")...)
		case v1.TaintNodeNotReady, v1.TaintNodeUnreachable:
			all = append(all, is(NodesNotReady, "is not ready", "are not ready")...)
		default:
			all = append(all, is(UntoleratedTaints, untoleratedTaint, untoleratedTaints)...)
		}
	}
	if len(all) > 0 {
		return all
	}
	has := func(reason string) bool { return slices.Contains(l.Reasons, reason) }
	switch l.Plugin {
	case names.NodeUnschedulable:
		return is(NodesCordoned, "is cordoned", "are cordoned")
	case names.TaintToleration:
		return is(UntoleratedTaints, untoleratedTaint, untoleratedTaints)
	case names.NodeAffinity, names.NodeName:
		return is(NodeAffinity, "does not match the pod's node affinity", "do not match the pod's node affinity")
	case names.InterPodAffinity:
		switch terms := words.And(podTerms(pod)); {
		case has(interpodaffinity.ErrReasonAffinityRulesNotMatch):
			return is(PodAffinity, "does not match its pod affinity", "do not match its pod affinity")
		case has(interpodaffinity.ErrReasonExistingAntiAffinityRulesNotMatch):
			return is(PodAffinity, "is ruled out by the anti-affinity of a running pod", "are ruled out by the anti-affinity of running pods")
		case terms != "":
			return is(PodAffinity, "is ruled out by its pod "+terms, "are ruled out by its pod "+terms)
		}
		return is(PodAffinity, "is ruled out by its pod anti-affinity", "are ruled out by its pod anti-affinity")
	case names.PodTopologySpread:
		return is(TopologySpread, "is ruled out by its topology spread", "are ruled out by its topology spread")
	case names.NodePorts:
		ports := hostPorts(pod)
		return is(PortConflict, "has "+ports+" in use", "have "+ports+" in use")
	case names.NodeVolumeLimits:
		return is(VolumeConflict, "can attach no more volumes", "can attach no more volumes")
	case names.VolumeBinding, names.VolumeZone, names.VolumeRestrictions:
		return is(VolumeConflict, "can't use its volume", "can't use its volume")
	case names.DynamicResources:
		return is(DevicesUnavailable, "has no device for its claims", "have no device for its claims")
	}
	reason := words.And(l.Reasons)
	plugin := cmp.Or(l.Plugin, "an unknown plugin")
	return is(OtherPlugin, fmt.Sprintf("is rejected by %s (%s)", plugin, reason), fmt.Sprintf("are rejected by %s (%s)", plugin, reason))
}

// hostPorts lists pod's host ports.
func hostPorts(pod *v1.Pod) string {
	var ports []string
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				ports = append(ports, fmt.Sprint(p.HostPort))
			}
		}
	}
	switch len(ports) {
	case 0:
		return "its host port"
	case 1:
		return "host port " + ports[0]
	}
	return "host ports " + strings.Join(ports, ", ")
}

// resources refines c for a pod that lacks only resources: whether any node offers them, is large enough, or whether
// there would be enough on several nodes together.
func (c *Cause) resources(d *cycle.Diagnosis) {
	type total struct {
		free, largest, biggest resource.Quantity // largest free part, biggest allocatable
		nodes                  int
		fits                   bool // an empty node would do
		needs                  resource.Quantity
	}
	totals := map[v1.ResourceName]*total{}
	eligible := 0
	for _, n := range d.Rejected {
		if slices.ContainsFunc(n.Lacks, func(l cycle.Lack) bool { return l.Plugin != names.NodeResourcesFit }) {
			continue
		}
		eligible++
		for _, l := range n.Lacks {
			for _, r := range l.Resources {
				t := totals[r.Resource]
				if t == nil {
					t = &total{needs: r.Needs}
					totals[r.Resource] = t
				}
				t.nodes++
				t.fits = t.fits || !r.Final
				if r.Free.Sign() > 0 {
					t.free.Add(r.Free)
				}
				if r.Free.Cmp(t.largest) > 0 {
					t.largest = r.Free
				}
				if r.Allocatable.Cmp(t.biggest) > 0 {
					t.biggest = r.Allocatable
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(totals)) {
		t := totals[name]
		switch {
		case t.nodes < eligible || eligible == 0: // another node has enough of it
		case !t.fits:
			c.Reason = NodesTooSmall
			c.Text += fmt.Sprintf(" None is large enough even when empty: the largest has %s.", amountOf(string(name), t.biggest))
			return
		case name != v1.ResourcePods && t.free.Cmp(t.needs) >= 0 && t.nodes > 1:
			c.Reason = Fragmented
			c.Text += fmt.Sprintf(" Enough in total: %s free on %d nodes, but at most %s on one.", amountOf(string(name), t.free), t.nodes, amountOf(string(name), t.largest))
			return
		}
	}
}

// notOffered returns a resource that the pod requests and no node has. Empty if there is none.
func notOffered(d *cycle.Diagnosis) string {
	counts := map[v1.ResourceName]int{}
	for _, n := range d.Rejected {
		for _, l := range n.Lacks {
			for _, r := range l.Resources {
				if r.Allocatable.IsZero() {
					counts[r.Resource]++
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] == d.Nodes {
			return string(name)
		}
	}
	return ""
}

// What nodes with taints have; if the taint is always the same one, it is named.
const (
	untoleratedTaint  = "has an untolerated taint"
	untoleratedTaints = "have untolerated taints"
)

// taintsShown limits how many taints are listed.
const taintsShown = 3

// nameTaints names the taints that pod does not tolerate in c's text, those of most nodes first.
func (c *Cause) nameTaints(d *cycle.Diagnosis, set uint64, all []requirement) {
	if !contains(set, all, UntoleratedTaints) {
		return
	}
	counts := map[string]int{}
	for _, n := range d.Rejected {
		for _, l := range n.Lacks {
			for _, t := range l.Taints {
				if !conditionTaint(t.Key) {
					counts[taintName(t)]++
				}
			}
		}
	}
	taints := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	switch len(taints) {
	case 0:
	case 1:
		c.Text = strings.NewReplacer(untoleratedTaint, "has the untolerated taint "+taints[0], untoleratedTaints, "have the untolerated taint "+taints[0]).Replace(c.Text)
	default:
		c.Text += fmt.Sprintf(" The taints are %s.", words.And(firstOf(taints, taintsShown)))
	}
}

// conditionTaint reports whether a taint stands for a condition of its node that has a name of its own.
func conditionTaint(key string) bool {
	return key == v1.TaintNodeUnschedulable || key == v1.TaintNodeNotReady || key == v1.TaintNodeUnreachable
}

// taintName formats a taint without its effect.
func taintName(t v1.Taint) string {
	if t.Value == "" {
		return t.Key
	}
	return t.Key + "=" + t.Value
}

// contains reports whether the set has a requirement of that reason.
func contains(set uint64, all []requirement, reason Reason) bool {
	for set != 0 {
		k := bits.TrailingZeros64(set)
		if all[k].reason == reason {
			return true
		}
		set &^= 1 << k
	}
	return false
}

// domainsShown limits how many topology domains are listed.
const domainsShown = 5

// byName returns domains sorted by their values.
func byName(domains []cycle.Domain) []cycle.Domain {
	return slices.SortedFunc(slices.Values(domains), func(a, b cycle.Domain) int { return strings.Compare(a.Value, b.Value) })
}

// spreadText lists the pods in each domain of pod's spread constraints.
func spreadText(d *cycle.Diagnosis, set uint64, all []requirement) string {
	if !contains(set, all, TopologySpread) {
		return ""
	}
	var b strings.Builder
	for _, s := range d.Spread {
		var counts, takes []string
		for _, domain := range byName(s.Domains) {
			if len(counts) < domainsShown {
				counts = append(counts, fmt.Sprintf("%s %d", cmp.Or(domain.Value, "(empty)"), domain.Pods))
			}
			if domain.Takes {
				takes = append(takes, domain.Value)
			}
		}
		if len(counts) == 0 || len(takes) == len(s.Domains) {
			continue
		}
		if more := len(s.Domains) - len(counts); more > 0 {
			counts = append(counts, fmt.Sprintf("%d more", more))
		}
		fmt.Fprintf(&b, " Matching pods per %s: %s; ", s.TopologyKey, strings.Join(counts, ", "))
		switch {
		case len(takes) == 0:
			fmt.Fprintf(&b, "maxSkew %d leaves none.", s.MaxSkew)
		default:
			fmt.Fprintf(&b, "maxSkew %d leaves only %s.", s.MaxSkew, words.And(firstOf(takes, domainsShown)))
		}
	}
	return b.String()
}

// allowedDomains returns " in DOMAIN or DOMAIN" if pod's only spread constraint allows only some domains.
func allowedDomains(d *cycle.Diagnosis, set uint64, all []requirement) string {
	if !contains(set, all, TopologySpread) || len(d.Spread) != 1 {
		return ""
	}
	var takes []string
	for _, domain := range byName(d.Spread[0].Domains) {
		if domain.Takes {
			takes = append(takes, domain.Value)
		}
	}
	if len(takes) == 0 || len(takes) == len(d.Spread[0].Domains) || len(takes) > domainsShown {
		return ""
	}
	return " in " + words.Or(takes)
}

// volumeText says from where the pod's bound volumes can be used.
func volumeText(d *cycle.Diagnosis, set uint64, all []requirement) string {
	if !contains(set, all, VolumeConflict) {
		return ""
	}
	for _, n := range d.Rejected {
		for _, l := range n.Lacks {
			for _, v := range l.Volumes {
				if where := volumePlace(v); where != "" {
					return fmt.Sprintf(" Volume %s is only usable where %s.", v.Name, where)
				}
			}
		}
	}
	return ""
}

// volumePlace returns the node labels that a volume requires.
func volumePlace(v *v1.PersistentVolume) string {
	var places []string
	if a := v.Spec.NodeAffinity; a != nil && a.Required != nil {
		for _, term := range a.Required.NodeSelectorTerms {
			for _, e := range term.MatchExpressions {
				places = append(places, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Key, strings.ToLower(string(e.Operator)), strings.Join(e.Values, "|"))))
			}
		}
	}
	for _, key := range []string{v1.LabelTopologyZone, v1.LabelFailureDomainBetaZone} {
		if zone := v.Labels[key]; zone != "" && len(places) == 0 {
			places = append(places, key+"="+zone)
		}
	}
	return words.And(places)
}

// conflictText names pods that a required anti-affinity or a host port conflicts with.
func conflictText(d *cycle.Diagnosis, set uint64, all []requirement) string {
	if !contains(set, all, PodAffinity) && !contains(set, all, PortConflict) {
		return ""
	}
	var pods []string
	for _, n := range d.Rejected {
		for _, l := range n.Lacks {
			for _, p := range l.Pods {
				if name := p.Namespace + "/" + p.Name + " on " + p.Spec.NodeName; !slices.Contains(pods, name) {
					pods = append(pods, name)
				}
			}
		}
	}
	const most = 3
	switch {
	case len(pods) == 0:
		return ""
	case len(pods) > most:
		return fmt.Sprintf(" Conflicting pods: %s and others.", strings.Join(pods[:most], ", "))
	}
	return fmt.Sprintf(" Conflicting pods: %s.", words.And(pods))
}

// closest adds to c the smallest change that makes pod fit on an existing node. offers is what a new node needs, and
// where " in DOMAIN" if it must be in certain topology domains.
func (c *Cause) closest(d *cycle.Diagnosis, offers []string, where string) {
	added := fmt.Sprintf("a node that can take it is added%s", where)
	if len(offers) > 0 {
		added = fmt.Sprintf("a node with %s is added%s", words.And(offers), where)
	}
	n := d.Rejected[0]
	if n.Never {
		c.Fix = "No existing node can be made to fit: add a node"
		if len(offers) > 0 {
			c.Fix += " with " + words.And(offers)
		}
		c.Fix += where + "."
		c.Helps = added
		return
	}
	var needs, does []string
	for _, l := range n.Lacks {
		for _, ch := range changes(n.Node, l) {
			if !slices.Contains(needs, ch.needs) {
				needs, does = append(needs, ch.needs), append(does, ch.does)
			}
		}
	}
	c.Fix = fmt.Sprintf("Closest: %s needs only %s.", n.Node, words.And(needs))
	for i := range does[1:] {
		does[i+1] = strings.TrimPrefix(does[i+1], n.Node+" ")
	}
	c.Helps = fmt.Sprintf("%s, or %s", added, words.And(does))
}

// changes returns what would have to change on the node of l.
func changes(node string, l cycle.Lack) []change {
	var all []change
	for _, r := range l.Resources {
		switch {
		case r.Resource == v1.ResourcePods:
			all = append(all, change{"room for one more pod", "a pod leaves " + node})
		default:
			amount := amountOf(string(r.Resource), r.Lacks)
			all = append(all, change{moreOf(string(r.Resource), r.Lacks), node + " frees " + amount})
		}
	}
	for _, label := range l.Labels {
		all = append(all, change{"the label " + label, node + " gets the label " + label})
	}
	for _, t := range l.Taints {
		switch t.Key {
		case v1.TaintNodeUnschedulable:
			all = append(all, change{"uncordoning", node + " is uncordoned"})
		case v1.TaintNodeNotReady, v1.TaintNodeUnreachable:
			all = append(all, change{"to become ready", node + " becomes ready"})
		default:
			name := taintName(t)
			all = append(all, change{"its taint " + name + " removed or tolerated", node + " loses the taint " + name + " or the pod tolerates it"})
		}
	}
	if len(all) > 0 {
		return all
	}
	pods := func() change {
		var podNames []string
		for _, p := range l.Pods {
			podNames = append(podNames, p.Namespace+"/"+p.Name)
		}
		switch {
		case len(podNames) == 0:
			return change{"the conflicting pods to leave", "the conflicting pods leave " + node}
		case len(podNames) > 3:
			return change{fmt.Sprintf("%d conflicting pods to leave", len(podNames)), fmt.Sprintf("%d conflicting pods leave", len(podNames))}
		}
		if len(podNames) == 1 {
			return change{podNames[0] + " to leave", podNames[0] + " leaves " + node}
		}
		return change{words.And(podNames) + " to leave", words.And(podNames) + " leave " + node}
	}
	switch l.Plugin {
	case names.NodeUnschedulable:
		return []change{{"uncordoning", node + " is uncordoned"}}
	case names.InterPodAffinity:
		if slices.Contains(l.Reasons, interpodaffinity.ErrReasonAffinityRulesNotMatch) {
			return []change{{"a pod that matches the pod affinity", node + " gets a pod that matches the pod affinity"}}
		}
		return []change{pods()}
	case names.NodePorts:
		return []change{pods()}
	case names.PodTopologySpread:
		return []change{{"fewer matching pods in its domain", "matching pods leave the domain of " + node}}
	case names.NodeVolumeLimits:
		return []change{{"a free volume attachment", node + " detaches a volume"}}
	case names.DynamicResources:
		return []change{{"a free device", node + " frees a device"}}
	case names.VolumeRestrictions:
		return []change{{"its volume released by other pods", "the pod that uses the volume leaves " + node}}
	}
	reason := words.And(l.Reasons)
	return []change{{fmt.Sprintf("to satisfy %s (%s)", cmp.Or(l.Plugin, "an unknown plugin"), reason), node + " satisfies " + cmp.Or(l.Plugin, "the plugin")}}
}

// amountOf formats an amount of a resource: "6 CPUs", "500m CPU", "4Gi of memory", "2 nvidia.com/gpu".
func amountOf(name string, q resource.Quantity) string {
	switch v1.ResourceName(name) {
	case v1.ResourceCPU:
		switch milli := q.MilliValue(); {
		case milli == 1000 || -1000 < milli && milli < 1000:
			return plain(q) + " CPU"
		default:
			return strconv.FormatFloat(float64(milli)/1000, 'f', -1, 64) + " CPUs"
		}
	case v1.ResourceMemory:
		return plain(q) + " of memory"
	case v1.ResourceEphemeralStorage:
		return plain(q) + " of ephemeral storage"
	}
	return plain(q) + " " + name
}

// moreOf formats a missing amount: "1 more CPU", "2Gi more memory".
func moreOf(name string, q resource.Quantity) string {
	switch v1.ResourceName(name) {
	case v1.ResourceCPU:
		return strings.Replace(amountOf(name, q), " CPU", " more CPU", 1)
	case v1.ResourceMemory:
		return plain(q) + " more memory"
	case v1.ResourceEphemeralStorage:
		return plain(q) + " more ephemeral storage"
	}
	return plain(q) + " more " + name
}

func firstOf(all []string, most int) []string {
	if len(all) > most {
		return append(slices.Clone(all[:most]), fmt.Sprintf("%d more", len(all)-most))
	}
	return all
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
