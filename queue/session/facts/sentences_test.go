package facts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedq/schedq/queue/session/explain"
)

// reading checks the sentences of an explanation against one state of the cluster.
type reading struct {
	w   *cluster
	pod *v1.Pod
	s   state
	x   *explain.Explanation
	// modelled is true if the tier and the attempts are not in the recording.
	modelled bool

	nodes  []string
	misses map[string]*miss
	offers []string // what the pod requires of a node, according to the cause
	about  []string // the nodes in the cause
	fix    string

	statements int
	wrong      []string
}

func newReading(w *cluster, pod *v1.Pod, s state, x *explain.Explanation, modelled bool) *reading {
	r := &reading{w: w, pod: pod, s: s, x: x, modelled: modelled, misses: map[string]*miss{}}
	r.nodes = slices.Sorted(maps.Keys(w.nodes))
	r.about = r.nodes
	for _, name := range r.nodes {
		r.misses[name] = w.misses(pod, w.nodes[name])
	}
	return r
}

func (r *reading) check(ok bool, format string, args ...any) {
	r.statements++
	if !ok {
		r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
	}
}

// and splits what "A, B and C" joins.
func and(s string) []string {
	return regexp.MustCompile(`, | and `).Split(s, -1)
}

// sentence is a form of sentence, with its check.
type sentence struct {
	form  *regexp.Regexp
	check func(r *reading, m []string)
}

func form(pattern string, check func(r *reading, m []string)) sentence {
	return sentence{regexp.MustCompile(`^` + pattern + `(?: |$)`), check}
}

func unchecked(*reading, []string) {}

var causes = []sentence{
	form(`It has not been tried yet\.`, func(r *reading, _ []string) { r.check(r.modelled || r.s.attempts == 0, "it has been tried") }),
	form(`At [0-9:.]+:`, unchecked),
	form(`It fits on (\S+)(?: and (\d+) other nodes?)? now\.`, func(r *reading, m []string) {
		fitting := r.fitting()
		more, _ := strconv.Atoi(m[2])
		r.check(slices.Contains(fitting, m[1]) && len(fitting) == more+1, "it fits on %v", fitting)
	}),
	form(`Pods are being evicted from (\S+) to make room for it(?:: (.+?))?\.`, func(r *reading, m []string) {
		r.check(r.pod.Status.NominatedNodeName == m[1] || r.x.NominatedNode != "", "it is nominated to %q", r.pod.Status.NominatedNodeName)
		for _, name := range and(m[2]) {
			if p := r.w.pods[name]; m[2] != "" && !strings.HasSuffix(name, " more") {
				r.check(p != nil && p.Spec.NodeName == m[1] && p.DeletionTimestamp != nil, "%s is not being evicted from it", name)
			}
		}
		evicted := 0
		for _, p := range r.w.pods {
			if p.Spec.NodeName == m[1] && p.DeletionTimestamp != nil {
				evicted++
			}
		}
		r.check(evicted > 0, "no pod is being evicted from %s", m[1])
	}),
	form(`Its nominated node is (\S+)[^.]*\.`, func(r *reading, m []string) {
		r.check(r.pod.Status.NominatedNodeName == m[1], "it is nominated to %q", r.pod.Status.NominatedNodeName)
	}),
	form(`(?:No node has(?: both)?|The only node does not have) (.+?)\.`, func(r *reading, m []string) {
		r.offers = and(m[1])
		have := r.withOffers()
		r.check(len(have) == 0, "%v have", have)
		r.check(!strings.Contains(m[0], "only node") || len(r.nodes) == 1, "there are %d nodes", len(r.nodes))
	}),
	form(`None is large enough even when empty: the largest has (.+?)\.`, func(r *reading, m []string) {
		name, amount := amountIn(m[1])
		var largest resource.Quantity
		for _, n := range r.eligible() {
			all := r.w.nodes[n].Status.Allocatable[name]
			if all.Cmp(largest) > 0 {
				largest = all
			}
		}
		needs := requests(r.pod)[name]
		r.check(roughly(largest, amount), "the largest has %s", largest.String())
		r.check(needs.Cmp(largest) > 0, "%s is enough", largest.String())
	}),
	form(`Enough in total: (.+?) free on (\d+) nodes, but at most (.+?) on one\.`, func(r *reading, m []string) {
		name, amount := amountIn(m[1])
		var total, largest resource.Quantity
		nodes := r.eligible()
		for _, n := range nodes {
			free := r.w.free(r.pod, r.w.nodes[n])[name]
			if free.Sign() > 0 {
				total.Add(free)
			}
			if free.Cmp(largest) > 0 {
				largest = free
			}
		}
		_, most := amountIn(m[3])
		r.check(roughly(total, amount), "%s are free", total.String())
		r.check(strconv.Itoa(len(nodes)) == m[2], "on %d nodes", len(nodes))
		r.check(roughly(largest, most), "the largest part is %s", largest.String())
		needs := requests(r.pod)[name]
		r.check(total.Cmp(needs) >= 0 && largest.Cmp(needs) < 0, "%s are needed", needs.String())
	}),
	form(`No node offers (\S+)\.`, func(r *reading, m []string) {
		for _, n := range r.nodes {
			q := r.w.nodes[n].Status.Allocatable[v1.ResourceName(m[1])]
			r.check(q.IsZero(), "%s offers it", n)
		}
	}),
	form(`(?:The only node with|The (\d+) nodes with|Of the (\d+) nodes with) (.+?),? ((?:\d+ )?(?:`+predicates+`).*?)\.`, func(r *reading, m []string) {
		r.offers = and(m[3])
		r.about = r.withOffers()
		r.check(strconv.Itoa(len(r.about)) == firstOf(m[1], m[2], "1"), "there are %v", r.about)
		r.counts(m[4])
	}),
	form(`(?:The only node|All (\d+) nodes|Of (\d+) nodes,) ((?:\d+ )?(?:`+predicates+`).*?)\.`, func(r *reading, m []string) {
		r.check(strconv.Itoa(len(r.nodes)) == firstOf(m[1], m[2], "1"), "there are %d nodes", len(r.nodes))
		r.counts(m[3])
	}),
	form(`The taints are (.+?)\.`, func(r *reading, m []string) {
		var have []string
		for _, n := range r.about {
			for _, t := range r.misses[n].taints {
				if name := strings.TrimSuffix(t.Key+"="+t.Value, "="); !slices.Contains(have, name) {
					have = append(have, name)
				}
			}
		}
		listed := and(m[1])
		slices.Sort(listed)
		slices.Sort(have)
		r.check(slices.Equal(listed, have) || strings.Contains(m[1], " more"), "they are %v", have)
	}),
	form(`Matching pods per (\S+): (.+?); maxSkew (\d+) leaves (?:none|only (.+?))\.`, func(r *reading, m []string) {
		ok := false
		for _, c := range r.pod.Spec.TopologySpreadConstraints {
			if c.TopologyKey != m[1] {
				continue
			}
			counts := r.w.domains(r.pod, c)
			ok = true
			var taking []string
			for value := range counts {
				if allows(r.pod, c, counts, value) {
					taking = append(taking, value)
				}
			}
			for _, d := range strings.Split(m[2], ", ") {
				if value, n, found := strings.Cut(d, " "); found && n != "more" {
					r.check(strconv.Itoa(counts[value]) == n, "%s has %d", value, counts[value])
				}
			}
			slices.Sort(taking)
			listed := and(m[4])
			slices.Sort(listed)
			r.check(m[4] == "" && len(taking) == 0 || slices.Equal(listed, taking) || strings.Contains(m[4], " more"), "it allows %v", taking)
		}
		r.check(ok, "it has no such constraint")
	}),
	form(`Volume (\S+) is only usable where (.+?)\.`, func(r *reading, m []string) {
		ok := false
		for _, name := range claimsOf(r.pod) {
			c := r.w.claims[name]
			ok = ok || c != nil && c.Spec.VolumeName == m[1]
		}
		r.check(ok, "no claim of the pod is bound to it")
	}),
	form(`Conflicting pods: (.+?)(?: and others)?\.`, func(r *reading, m []string) {
		for _, c := range and(m[1]) {
			name, node, _ := strings.Cut(c, " on ")
			p := r.w.pods[name]
			r.check(p != nil && p.Spec.NodeName == node, "%s is not on %s", name, node)
			found := false
			for _, n := range r.about {
				found = found || slices.Contains(r.misses[n].conflicts, name) || slices.Contains(r.misses[n].ports, name)
			}
			r.check(found, "%s conflicts on no node that the sentence is about", name)
		}
	}),
	form(`PersistentVolumeClaim "(.+?)" does not exist\.`, func(r *reading, m []string) {
		r.check(slices.Contains(claimsOf(r.pod), r.pod.Namespace+"/"+m[1]), "the pod has no such claim")
		r.check(r.w.claims[r.pod.Namespace+"/"+m[1]] == nil, "it exists")
	}),
	form(`PersistentVolumeClaim "(.+?)" is being deleted\.`, func(r *reading, m []string) {
		c := r.w.claims[r.pod.Namespace+"/"+m[1]]
		r.check(c != nil && c.DeletionTimestamp != nil, "it is not being deleted")
	}),
	form(`(?:A PersistentVolumeClaim of the pod|PersistentVolumeClaim \S+) is not bound\.`, func(r *reading, _ []string) {
		ok := false
		for _, name := range claimsOf(r.pod) {
			c := r.w.claims[name]
			ok = ok || c != nil && c.Spec.VolumeName == ""
		}
		r.check(ok, "all are bound")
	}),
	form(`Held by the scheduling gates? (.+)\.`, func(r *reading, m []string) {
		var gates []string
		for _, g := range r.pod.Spec.SchedulingGates {
			gates = append(gates, g.Name)
		}
		r.check(slices.Equal(and(m[1]), gates), "they are %v", gates)
	}),
	form(`The cluster has no nodes\.`, func(r *reading, _ []string) { r.check(len(r.nodes) == 0, "there are %d nodes", len(r.nodes)) }),
	form(`Its last attempt found no nodes in the cluster\.`, func(r *reading, _ []string) {
		r.check(r.s.message == "no nodes are registered to the cluster", "the message is %q", r.s.message)
	}),
	form(`Attempt (\d+) has been running since ([0-9:.]+)\.`, func(r *reading, m []string) {
		r.check(r.modelled || m[1] == strconv.Itoa(r.s.attempts), "it is attempt %d", r.s.attempts)
		r.check(r.modelled || m[2] == r.s.since.Format("15:04:05.000"), "since %s", r.s.since)
	}),
	form(`Its last attempt failed with an error: (.+)\.`, func(r *reading, m []string) {
		r.check(r.modelled || strings.Contains(r.s.message, m[1]), "the message is %q", r.s.message)
	}),
	form(`(\d+) of (\d+) nodes? .+\.`, func(r *reading, m []string) { // a message, in words
		reasons, nodes := reasonsIn(r.s.message)
		counts := regexp.MustCompile(`(?:^|, )(\d+) `).FindAllStringSubmatch(m[0], -1)
		r.check(r.modelled || strconv.Itoa(nodes) == m[2], "the message counts %d nodes", nodes)
		r.check(r.modelled || len(counts) == len(reasons), "the message is %q", r.s.message)
		for _, c := range counts {
			found := false
			for _, n := range reasons {
				found = found || strconv.Itoa(n) == c[1]
			}
			r.check(r.modelled || found, "no reason counts %s in %q", c[1], r.s.message)
		}
	}),
}

const predicates = `is cordoned|are cordoned|is not ready|are not ready|has the untolerated taint|have the untolerated taint|has an untolerated taint|have untolerated taints|(?:is|are) ruled out by its topology spread|(?:is|are) ruled out by (?:its pod|the) anti-affinity|does not match|do not match|has host ports?|have host ports?|can't use|can attach|has no device|have no device|lacks?|has less than|have less than|runs as many|run as many`

// counts checks a list such as "2 have untolerated taints and 1 is cordoned". Each node counts for the first reason that
// applies.
func (r *reading) counts(text string) {
	left := slices.Clone(r.about)
	parts := regexp.MustCompile(`(?:^|, | and )(?:(\d+) )?(`+predicates+`)`).FindAllStringSubmatch(text, -1)
	for _, part := range parts {
		var applies []string
		known := true
		for _, n := range left {
			m := r.misses[n]
			ok := false
			switch p := part[2]; {
			case strings.Contains(p, "cordoned"):
				ok = m.cordoned
			case strings.Contains(p, "ready"):
				ok = m.notReady
			case strings.Contains(p, "taint"):
				ok = len(m.taints) > 0
			case strings.Contains(p, "anti-affinity"):
				ok = len(m.conflicts) > 0
			case strings.Contains(text, "pod affinity") && strings.Contains(p, "match"):
				ok = m.noMatch
			case strings.Contains(p, "spread"):
				ok = m.spread
			case strings.Contains(p, "host port"):
				ok = len(m.ports) > 0
			default:
				known = false
			}
			if ok {
				applies = append(applies, n)
			}
		}
		if !known { // this test does not check volumes and devices
			return
		}
		want := len(left)
		if part[1] != "" {
			want, _ = strconv.Atoi(part[1])
		}
		r.check(len(applies) == want, "%q holds for %v of %v", part[0], applies, left)
		left = slices.DeleteFunc(left, func(n string) bool { return slices.Contains(applies, n) })
	}
	r.check(len(left) == 0, "%q leaves out %v", text, left)
}

func (r *reading) fitting() []string {
	var all []string
	for _, n := range r.nodes {
		if r.misses[n].fits() {
			all = append(all, n)
		}
	}
	return all
}

// eligible returns the nodes that only lack resources.
func (r *reading) eligible() []string {
	var all []string
	for _, n := range r.nodes {
		m := *r.misses[n]
		if m.short = nil; m.fits() {
			all = append(all, n)
		}
	}
	return all
}

// withOffers returns the nodes that have all of the offers.
func (r *reading) withOffers() []string {
	var all []string
	for _, n := range r.nodes {
		if !slices.ContainsFunc(r.offers, func(o string) bool { return !r.offered(n, o) }) {
			all = append(all, n)
		}
	}
	return all
}

func (r *reading) offered(node, offer string) bool {
	if label, ok := strings.CutPrefix(offer, "the label "); ok {
		return selects(r.w.nodes[node], label)
	}
	short := r.misses[node].short
	if offer == "room for one more pod" {
		_, lacks := short[v1.ResourcePods]
		return !lacks
	}
	name, amount := amountIn(strings.TrimSuffix(offer, " free"))
	needs := requests(r.pod)[name]
	r.check(roughly(needs, amount), "%q: it requests %s of %s", offer, needs.String(), name)
	_, lacks := short[name]
	return !lacks
}

// amountIn reads "6 CPUs", "500m CPU", "1.5Gi of memory", "2 example.com/gpu", with or without "more".
func amountIn(text string) (v1.ResourceName, string) {
	amount, what, _ := strings.Cut(text, " ")
	what = strings.TrimPrefix(strings.TrimPrefix(what, "more "), "of ")
	switch what {
	case "CPU", "CPUs":
		return v1.ResourceCPU, amount
	case "memory":
		return v1.ResourceMemory, amount
	case "ephemeral storage":
		return v1.ResourceEphemeralStorage, amount
	}
	return v1.ResourceName(what), amount
}

// roughly reports whether written is q, rounded to one decimal.
func roughly(q resource.Quantity, written string) bool {
	w, err := resource.ParseQuantity(written)
	if err != nil {
		return false
	}
	a, b := q.AsApproximateFloat64(), w.AsApproximateFloat64()
	if strings.HasSuffix(written, "i") {
		unit, _ := resource.ParseQuantity("1" + written[len(written)-2:])
		return a-b <= 0.051*unit.AsApproximateFloat64() && b-a <= 0.051*unit.AsApproximateFloat64()
	}
	return a == b
}

func claimsOf(pod *v1.Pod) []string {
	var all []string
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			all = append(all, pod.Namespace+"/"+v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			all = append(all, pod.Namespace+"/"+pod.Name+"-"+v.Name)
		}
	}
	return all
}

// reasonsIn counts the reasons of a message, and its nodes.
func reasonsIn(message string) (map[string]int, int) {
	m := regexp.MustCompile(`^0/(\d+) nodes are available: (.*?)\.(?: .*)?$`).FindStringSubmatch(message)
	if m == nil {
		return nil, 0
	}
	reasons := map[string]int{}
	for _, part := range regexp.MustCompile(`, (?:\d+ )`).Split(", "+m[2], -1)[1:] {
		reasons[part] = 0
	}
	for _, part := range regexp.MustCompile(`(?:^|, )(\d+) `).FindAllStringSubmatchIndex(m[2], -1) {
		n, _ := strconv.Atoi(m[2][part[2]:part[3]])
		for text := range reasons {
			if rest := m[2][part[1]:]; rest == text || strings.HasPrefix(rest, text+", ") {
				reasons[text] = n
			}
		}
	}
	nodes, _ := strconv.Atoi(m[1])
	return reasons, nodes
}

var fixes = []sentence{
	form(`Closest: (\S+) needs only (.+)\.`, func(r *reading, m []string) {
		r.fix = m[1]
		miss := r.misses[m[1]]
		if miss == nil {
			r.check(false, "there is no node %s", m[1])
			return
		}
		r.changes(*miss, m[2])
		for _, n := range r.nodes {
			r.check(r.cannotFit(n) || cost(r.misses[n]) > cost(miss)-0.001, "%s needs less: %s", n, describe(r.misses[n]))
		}
	}),
	form(`No existing node can be made to fit: add a node(?: with (.+))?\.`, func(r *reading, m []string) {
		for _, n := range r.nodes {
			r.check(r.cannotFit(n), "%s can: %s", n, describe(r.misses[n]))
		}
		if m[1] != "" {
			r.check(slices.Equal(and(m[1]), r.offers), "the cause requires %v", r.offers)
		}
	}),
	form(`Create PersistentVolumeClaim ".+?"\.`, unchecked),
	form(`Check the claim's storage class and its provisioner\.`, unchecked),
	form(`Add a node\.`, func(r *reading, _ []string) { r.check(len(r.nodes) == 0, "there are %d nodes", len(r.nodes)) }),
	form(`Kueue removes it .*\.`, unchecked),
}

// cannotFit reports whether a node can't be made to fit, as far as this test checks.
func (r *reading) cannotFit(node string) bool {
	m := r.misses[node]
	if len(claimsOf(r.pod)) > 0 {
		return true // this test does not check volumes
	}
	for _, s := range m.short {
		if s.needs.Cmp(s.allocatable) > 0 {
			return true
		}
	}
	fixed := func(label string) bool {
		return regexp.MustCompile(`kubernetes\.io/|metadata\.name`).MatchString(label)
	}
	if slices.ContainsFunc(m.labels, fixed) {
		return true
	}
	return len(m.terms) > 0 && !slices.ContainsFunc(m.terms, func(t []string) bool { return !slices.ContainsFunc(t, fixed) })
}

// cost returns how much must change on a node: 1 for each item, plus the missing share for resources.
func cost(m *miss) float64 {
	all := float64(len(m.labels) + len(m.taints))
	for _, missing := range []bool{m.cordoned, m.notReady, len(m.ports) > 0, len(m.conflicts) > 0, m.noMatch, m.spread} {
		if missing {
			all++
		}
	}
	for _, s := range m.short {
		all += 1 + s.lacks.AsApproximateFloat64()/s.needs.AsApproximateFloat64()
	}
	least := 0
	for i, t := range m.terms {
		if i == 0 || len(t) < least {
			least = len(t)
		}
	}
	return all + float64(least)
}

func describe(m *miss) string {
	return fmt.Sprintf("labels %v %v taints %v cordoned %v unready %v short %v ports %v conflicts %v alone %v spread %v",
		m.labels, m.terms, m.taints, m.cordoned, m.notReady, slices.Collect(maps.Keys(m.short)), m.ports, m.conflicts, m.noMatch, m.spread)
}

// changes checks that text lists exactly what a node misses.
func (r *reading) changes(m miss, text string) {
	all := describe(&m)
	m.short = maps.Clone(m.short)
	var evicted []string
	for _, item := range and(text) {
		name, leaves := strings.CutSuffix(item, " to leave")
		label, isLabel := strings.CutPrefix(item, "the label ")
		taint, isTaint := strings.CutPrefix(item, "its taint ")
		switch {
		case isLabel:
			before := len(m.labels)
			m.labels = slices.DeleteFunc(slices.Clone(m.labels), func(l string) bool { return l == label })
			ok := len(m.labels) < before
			for i, t := range m.terms {
				if slices.Contains(t, label) {
					m.terms = slices.Clone(m.terms)
					m.terms[i] = slices.DeleteFunc(slices.Clone(t), func(l string) bool { return l == label })
					ok = true
				}
			}
			if slices.ContainsFunc(m.terms, func(t []string) bool { return len(t) == 0 }) {
				m.terms = nil
			}
			r.check(ok, "it does not lack %s", label)
		case isTaint:
			taint = strings.TrimSuffix(taint, " removed or tolerated")
			before := len(m.taints)
			m.taints = slices.DeleteFunc(slices.Clone(m.taints), func(t v1.Taint) bool { return strings.TrimSuffix(t.Key+"="+t.Value, "=") == taint })
			r.check(len(m.taints) < before, "it has no taint %s", taint)
		case item == "uncordoning":
			r.check(m.cordoned, "it is not cordoned")
			m.cordoned = false
		case item == "to become ready":
			r.check(m.notReady, "it is ready")
			m.notReady = false
		case item == "room for one more pod":
			_, ok := m.short[v1.ResourcePods]
			r.check(ok, "it has room")
			delete(m.short, v1.ResourcePods)
		case strings.Contains(item, " more "):
			name, amount := amountIn(item)
			s, ok := m.short[name]
			r.check(ok && roughly(s.lacks, amount), "it lacks %s of %s", s.lacks.String(), name)
			delete(m.short, name)
		case strings.Contains(item, "matching pods"):
			r.check(m.spread, "its spread allows it")
			m.spread = false
		case item == "a pod that matches the pod affinity":
			r.check(m.noMatch, "a pod matches")
			m.noMatch = false
		case leaves || strings.Contains(item, "/") && !strings.Contains(item, " "):
			evicted = append(evicted, name)
			r.check(strings.Contains(item, "conflicting pods") || slices.Contains(m.conflicts, name) || slices.Contains(m.ports, name), "%s does not conflict", name)
		case strings.HasPrefix(item, "to satisfy") || strings.Contains(item, "volume") || strings.Contains(item, "device"):
		default:
			r.check(false, "no check knows %q", item)
		}
	}
	if len(evicted) > 0 {
		left := func(p string) bool {
			return slices.Contains(evicted, p) || slices.ContainsFunc(evicted, func(l string) bool { return strings.Contains(l, "conflicting pods") })
		}
		m.conflicts = slices.DeleteFunc(slices.Clone(m.conflicts), left)
		m.ports = slices.DeleteFunc(slices.Clone(m.ports), left)
	}
	r.check(m.fits(), "after that it still lacks %s (of %s)", describe(&m), all)
}

var nexts = []sentence{
	form(`Next try by (?:about )?([0-9:]+) \((.+?) timeout\)\.`, func(r *reading, m []string) { r.nextTry(m[1], "unschedulable") }),
	form(`Next try by (?:about )?([0-9:]+), when its backoff ends(?:, sooner if activeQ is empty)?\.`, func(r *reading, m []string) { r.nextTry(m[1], "backoff") }),
	form(`(?:Sooner, for example, if|It can succeed if) (.+)\.`, func(r *reading, m []string) {
		if with := regexp.MustCompile(`a node with (.+?) is added`).FindStringSubmatch(m[1]); with != nil && len(r.offers) > 0 {
			r.check(slices.Equal(and(with[1]), r.offers), "the cause requires %v", r.offers)
		}
		if r.fix != "" {
			r.check(strings.Contains(m[1], r.fix), "the closest node is %s", r.fix)
		}
	}),
	form(`No event has woken it since its last attempt\.`, func(r *reading, _ []string) {
		r.check(r.modelled || r.s.tier == "unschedulable" || r.s.tier == "gated", "%s woke it at %s", r.s.wokenBy, r.s.woken)
	}),
	form(`Next try after the (\d+) pods? ahead of it in activeQ\.`, func(r *reading, _ []string) {
		r.check(r.modelled || r.s.tier == "active", "it is in %s", r.s.tier)
	}),
	form(`It is tried next\.`, func(r *reading, _ []string) { r.check(r.modelled || r.s.tier == "active", "it is in %s", r.s.tier) }),
	form(`If the attempt fails, .*\.`, func(r *reading, _ []string) { r.check(r.modelled || r.s.tier == "inflight", "it is in %s", r.s.tier) }),
	form(`Not tried until .*\.`, func(r *reading, _ []string) { r.check(r.modelled || r.s.tier == "gated", "it is in %s", r.s.tier) }),
	form(`The time of the next try is unknown\.`, unchecked),
	form(`That time has passed, but no move was recorded\.`, unchecked),
}

func (r *reading) nextTry(clock, tier string) {
	r.check(r.x.NextTry != nil && r.x.NextTry.Latest.Format("15:04:05") == clock, "nextTry is %v", r.x.NextTry)
	r.check(r.modelled || r.s.tier == tier, "it is in %s", r.s.tier)
}

// read checks each sentence of text. A sentence without a check is wrong, too.
func (r *reading) read(text string, forms []sentence) {
	for text != "" {
		known := false
		for _, f := range forms {
			if m := f.form.FindStringSubmatch(text); m != nil {
				before := len(r.wrong)
				f.check(r, m)
				for i := before; i < len(r.wrong); i++ {
					r.wrong[i] = strings.TrimSpace(m[0]) + " — but " + r.wrong[i]
				}
				text, known = strings.ToUpper(text[len(m[0]):min(len(m[0])+1, len(text))])+text[min(len(m[0])+1, len(text)):], true
				break
			}
		}
		if !known {
			r.check(false, "no check knows the sentence %q", text)
			return
		}
	}
}
