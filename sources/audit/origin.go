package audit

// Logs of two clusters differ by the revisions of their pods: etcd counts a cluster's changes, so no revision belongs to
// two pods, and a later pod has a higher one. Names prove nothing: web-0, node-a and kube-system are everywhere.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

const (
	// proof is how many revisions must show that two logs are of two clusters: one or two may be damaged.
	proof = 3
	// maxCompared limits with how many logs a log is compared: of very many, the ones before it suffice.
	maxCompared = 30
	// maxKept limits how many revisions of a log are remembered.
	maxKept = 8192
	// stretch is the length of the intervals for which the highest and the lowest revisions are remembered.
	revisionStretch = time.Minute
	// apart is how much later than the response with a revision a pod's request must be to imply a higher one: the clocks of
	// two API servers differ.
	apart = 2 * time.Minute
)

// Change is the state of a pod after a request.
type OriginChange struct {
	Pod      types.NamespacedName
	UID      types.UID
	Revision uint64
	// Told is when the request was answered.
	Told time.Time
	// Asked is when the request that created the pod was received. Zero for other requests.
	Asked time.Time
}

// Revisions has revisions of one log, in at most some megabytes. The zero value has none.
type OriginRevisions struct {
	kept   map[uint64]OriginChange
	every  uint64 // one in so many is kept, selected by a hash of the revision
	counts map[int64]*revisionExtremes
}

// extremes are the highest revisions in responses of an interval, and the lowest of the pods requested in it.
type revisionExtremes struct {
	highest, lowest []uint64
}

// Add adds a change.
func (r *OriginRevisions) Add(c OriginChange) {
	if c.Revision == 0 || c.UID == "" {
		return
	}
	if r.kept == nil {
		r.kept, r.every, r.counts = map[uint64]OriginChange{}, 1, map[int64]*revisionExtremes{}
	}
	if spread(c.Revision)%r.every == 0 {
		if _, known := r.kept[c.Revision]; !known {
			r.kept[c.Revision] = c
		}
	}
	if len(r.kept) > maxKept {
		r.every *= 2
		maps.DeleteFunc(r.kept, func(revision uint64, _ OriginChange) bool { return spread(revision)%r.every != 0 })
	}
	if told := r.at(c.Told); told != nil {
		told.highest = insertRevision(told.highest, c.Revision, func(a, b uint64) int { return cmp.Compare(b, a) })
	}
	if c.Asked.IsZero() {
		return
	}
	if asked := r.at(c.Asked); asked != nil {
		asked.lowest = insertRevision(asked.lowest, c.Revision, cmp.Compare[uint64])
	}
}

// at returns the extremes of the interval around t, or nil if there are too many intervals.
func (r *OriginRevisions) at(t time.Time) *revisionExtremes {
	n := t.Unix() / int64(revisionStretch/time.Second)
	e := r.counts[n]
	if e == nil && len(r.counts) < 16*maxKept {
		e = &revisionExtremes{}
		r.counts[n] = e
	}
	return e
}

// insert inserts v into sorted values and keeps the first ones, as many as a proof needs.
func insertRevision(first []uint64, v uint64, order func(a, b uint64) int) []uint64 {
	i, known := slices.BinarySearchFunc(first, v, order)
	if known || i >= proof {
		return first
	}
	return slices.Insert(first, i, v)[:min(len(first)+1, proof)]
}

// spread returns a hash of a revision (splitmix64).
func spread(revision uint64) uint64 {
	z := revision + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Log is a log's name and its revisions.
type OriginLog struct {
	Name string
	*OriginRevisions
}

// Conflict returns an error that names two of the logs if they cannot be of one cluster.
func OriginConflict(logs []OriginLog) error {
	if err := sharedRevisions(logs); err != nil {
		return err
	}
	logs = slices.DeleteFunc(slices.Clone(logs), func(l OriginLog) bool { return len(l.kept) < proof })
	for i, b := range logs {
		for _, a := range logs[max(0, i-maxCompared):i] {
			if why := cmp.Or(backwards(a, b), backwards(b, a)); why != "" {
				return conflict(a, b, why)
			}
		}
	}
	return nil
}

func conflict(a, b OriginLog, why string) error {
	return fmt.Errorf("%s and %s are of two clusters, or of one before and after its etcd was restored: %s", a.Name, b.Name, why)
}

// shared returns an error if two logs have different pods at the same revisions.
func sharedRevisions(logs []OriginLog) error {
	type pair struct{ a, b int }
	first, counts := map[uint64]int{}, map[pair]int{} // first has the first log with a revision
	for i, b := range logs {
		for _, revision := range slices.Sorted(maps.Keys(b.kept)) {
			before, known := first[revision]
			if !known {
				first[revision] = i
				continue
			}
			a := logs[before]
			if a.kept[revision].UID == b.kept[revision].UID {
				continue
			}
			if counts[pair{before, i}]++; counts[pair{before, i}] == proof {
				return conflict(a, b, fmt.Sprintf("at revision %d the former has the pod %s and the latter %s, and so it is with others",
					revision, sources.Sanitize(a.kept[revision].Pod.String()), sources.Sanitize(b.kept[revision].Pod.String())))
			}
		}
	}
	return nil
}

// backwards returns an explanation if pods of b have lower revisions than a had long before, or "".
func backwards(a, b OriginLog) string {
	type moment struct {
		n      int64
		lowest []uint64 // of b from then on
	}
	var moments []moment
	var lowest []uint64
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(b.counts))) {
		for _, v := range b.counts[n].lowest {
			lowest = insertRevision(slices.Clone(lowest), v, cmp.Compare[uint64])
		}
		if len(b.counts[n].lowest) > 0 {
			moments = append(moments, moment{n, lowest})
		}
	}
	var highest []uint64
	earlier := slices.Sorted(maps.Keys(a.counts))
	for _, m := range slices.Backward(moments) {
		for len(earlier) > 0 && m.n-earlier[0] > int64(apart/revisionStretch) {
			for _, v := range a.counts[earlier[0]].highest {
				highest = insertRevision(highest, v, func(a, b uint64) int { return cmp.Compare(b, a) })
			}
			earlier = earlier[1:]
		}
		if len(highest) < proof || len(m.lowest) < proof || m.lowest[proof-1] >= highest[proof-1] {
			continue
		}
		return fmt.Sprintf("%s comes to revision %d before %s UTC, and in %s pods that are made after that have lower ones, such as %d",
			a.Name, highest[0], time.Unix(m.n*int64(revisionStretch/time.Second), 0).UTC().Format("2006-01-02 15:04"), b.Name, m.lowest[0])
	}
	return ""
}
