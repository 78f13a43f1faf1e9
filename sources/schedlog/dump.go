package schedlog

import (
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// On SIGUSR2, kube-scheduler logs the pods of activeQ, of backoffQ, and the unschedulable and gated ones, with their numbers
// (v1.29 to v1.37: backend/cache/debugger/dumper.go, and scheduling_queue.go, PendingPods, which calls the last
// unschedulableEntities since v1.37). Then it logs pods that wait for their pod groups, which are in none of the three.
var (
	dumpSummary = regexp.MustCompile(`^activeQ:(\d{1,7}); backoffQ:(\d{1,7}); unschedulable(?:Pods|Entities):(\d{1,7})(?:;|$)`)
	dumpedPod   = regexp.MustCompile(`(?:^|\s)name: ([^\s,]+), namespace: ([^\s,]+), uid: ([^\s,]*), phase: `)
)

// dump reads a dump of the queue and reports whether it is one. Its pods are on lines of their own, or in one text in
// klog's JSON format.
func (p *parser) dump(rest []byte) bool {
	counts := dumpSummary.FindSubmatch(value(rest, ` summary="`))
	if counts == nil {
		return false
	}
	var in []sources.Tier // the tiers of the remaining pods
	var left []int
	for i, tier := range []sources.Tier{sources.TierActive, sources.TierBackoff, sources.TierUnschedulable} {
		if n, _ := strconv.Atoi(string(counts[i+1])); n > 0 {
			in, left = append(in, tier), append(left, n)
		}
	}
	at := p.now
	list := func(text []byte) {
		for _, found := range dumpedPod.FindAllSubmatch(text, -1) {
			if len(in) == 0 {
				return
			}
			tier := in[0]
			if left[0]--; left[0] == 0 {
				in, left = in[1:], left[1:]
			}
			name, namespace, uid := string(found[1]), string(found[2]), string(found[3])
			if sources.CheckName(name) != nil || sources.CheckName(namespace) != nil {
				continue
			}
			p.now = at
			p.emit(&sources.Dumped{Pod: types.NamespacedName{Namespace: namespace, Name: name}, UID: types.UID(sources.Sanitize(uid)), In: tier})
		}
	}
	list(value(rest, ` pods="`))
	p.block = list
	return true
}
