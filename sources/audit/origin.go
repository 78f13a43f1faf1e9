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
	// proof is how many revisions have to say that two logs are of two clusters: one or two may be damaged.
	proof = 3
	// maxKept is how many revisions of a log are remembered.
	maxKept = 8192
	// stretch is for what time the highest and the lowest revisions are remembered together.
	revisionStretch = time.Minute
	// apart is how much later than a revision was told a pod must have been asked for to have a higher one: clocks of two API
	// servers differ.
	apart = 2 * time.Minute
)

// Change is a pod as it became by a request.
type OriginChange struct {
	Pod      types.NamespacedName
	UID      types.UID
	Revision uint64
	// Told is when the request was answered.
	Told time.Time
	// Asked is when a request was received that made the pod. Zero for one that found it.
	Asked time.Time
}

// Revisions are what is remembered of those of one log, at most some megabytes. The zero value is of a log without.
type OriginRevisions struct {
	kept   map[uint64]OriginChange
	every  uint64 // of which one in so many is kept, by a number that follows from the revision
	counts map[int64]*revisionExtremes
}

// extremes are the highest revisions that were told in a stretch of time, and the lowest of the pods that were asked for in it.
type revisionExtremes struct {
	highest, lowest []uint64
}

// Add takes in a change.
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

// at returns what is remembered of the stretch of time around t, or nil if too many are.
func (r *OriginRevisions) at(t time.Time) *revisionExtremes {
	n := t.Unix() / int64(revisionStretch/time.Second)
	e := r.counts[n]
	if e == nil && len(r.counts) < 16*maxKept {
		e = &revisionExtremes{}
		r.counts[n] = e
	}
	return e
}

// insert adds v to the first of those in some order, as many as are needed for a proof.
func insertRevision(first []uint64, v uint64, order func(a, b uint64) int) []uint64 {
	i, known := slices.BinarySearchFunc(first, v, order)
	if known || i >= proof {
		return first
	}
	return slices.Insert(first, i, v)[:min(len(first)+1, proof)]
}

// spread returns a number that follows from a revision and has nothing to do with its neighbours' (splitmix64).
func spread(revision uint64) uint64 {
	z := revision + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Log is a log, by its name, and its revisions.
type OriginLog struct {
	Name string
	*OriginRevisions
}

// Conflict returns an error that names two of the logs if they can't be of one cluster.
func OriginConflict(logs []OriginLog) error {
	if err := sharedRevisions(logs); err != nil {
		return err
	}
	for i, b := range logs {
		for _, a := range logs[:i] {
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

// shared returns an error if two logs have other pods at the same revisions.
func sharedRevisions(logs []OriginLog) error {
	type pair struct{ a, b int }
	first, counts := map[uint64]int{}, map[pair]int{} // who has a revision first
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

// backwards says how pods of b have lower revisions than what a had long before, or "".
func backwards(a, b OriginLog) string {
	type moment struct {
		n      int64
		lowest []uint64 // of b, from then on
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
