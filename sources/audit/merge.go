package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/tidwall/btree"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources/objects"
)

// merger sorts changes from the order in which they are logged into the order in which they were made.
//
// A line's time is when its request was answered, and requests overlap, so times do not show the order.
// Revisions do: etcd counts all changes of the cluster. A change happened before its own answer and
// before that of every later change, so that earliest answer is its time. Changes whose answer has no
// revision (bindings, nodes' deletions) are placed among the others by time, but never before
// changes that must precede them: a pod's creation, a node's last update.
type merger struct {
	// patience limits how late a change may be logged.
	patience time.Duration
	out      func(*entry)

	known    *btree.BTreeG[*held] // those with a revision, by revision
	answered *btree.BTreeG[*held] // the same by time
	unknown  *btree.BTreeG[*held] // those without one, by time
	of       map[types.UID]*stream
	last     time.Time // of the last change handed out
	count    int       // number of all changes
	cost     int       // bytes of memory of those that wait
}

// held is an entry that waits for earlier ones.
type held struct {
	entry
	read time.Time // when it was logged
	nth  int
	cost int
}

// stream is the state of an object in a merger.
type stream struct {
	written  uint64  // its last revision before its deletion
	last     *held   // the entry with that revision. Nil once it was handed out
	held     int     // how many of its entries wait
	known    int     // how many of those have a revision
	removals []*held // those that remove it
	bindings []*held // those without a revision
	late     []*held // removals without a revision that wait for the known ones
	gone     bool
}

func newMerger(patience time.Duration, out func(*entry)) *merger {
	sorted := func(less func(a, b *held) int) *btree.BTreeG[*held] {
		return btree.NewBTreeGOptions(func(a, b *held) bool { return cmp.Or(less(a, b), cmp.Compare(a.nth, b.nth)) < 0 }, btree.Options{NoLocks: true})
	}
	byTime := func(a, b *held) int { return a.time.Compare(b.time) }
	return &merger{
		patience: patience, out: out, of: map[types.UID]*stream{}, answered: sorted(byTime), unknown: sorted(byTime),
		known: sorted(func(a, b *held) int { return cmp.Or(cmp.Compare(a.revision, b.revision), byTime(a, b)) }),
	}
}

// repeats reports whether e has the revision of the object's last change, as the response to a request that changed
// nothing has. Then it adds nothing.
func (w *merger) repeats(e *entry) bool {
	s := w.of[e.uid]
	if e.op != put && e.op != patchMeta || e.revision == 0 || e.uid == "" || s == nil || e.revision != s.written {
		return false
	}
	if h := s.last; h != nil && e.time.Before(h.time) {
		w.known.Delete(h)
		w.answered.Delete(h)
		h.time = e.time
		w.known.Set(h)
		w.answered.Set(h)
	}
	return true
}

// add adds an entry that was logged at read, not before the previous one, and takes cost bytes of memory. It returns the
// revision by which e is ordered, or 0.
func (w *merger) add(e *entry, read time.Time, cost int) uint64 {
	w.count++
	w.cost += cost
	h := &held{*e, read, w.count, cost}
	s := w.of[e.uid]
	if s == nil {
		s = &stream{}
		w.of[e.uid] = s
	}
	s.held++
	switch e.op {
	case put:
		if e.revision > s.written {
			s.written, s.last = e.revision, h
		}
		for _, r := range s.removals {
			if r.revision <= s.written {
				w.known.Delete(r)
				w.answered.Delete(r)
				r.revision, s.known = 0, s.known-1
				w.unknown.Set(r)
			}
		}
		s.removals = slices.DeleteFunc(s.removals, func(r *held) bool { return r.revision == 0 })
	case remove:
		if h.revision <= s.written {
			h.revision = 0 // it is the deleted state's (kube-apiserver before v1.21)
		}
	}
	switch {
	case h.revision == 0:
		w.unknown.Set(h)
		if h.op == bind && h.uid != "" {
			s.bindings = append(s.bindings, h)
		}
	default:
		w.known.Set(h)
		w.answered.Set(h)
		if s.known++; h.op == remove {
			s.removals = append(s.removals, h)
		}
	}
	return h.revision
}

// advance hands out the entries that no later one can precede.
func (w *merger) advance(now time.Time) {
	ripe := func(h *held, some bool) bool { return some && now.Sub(h.read) >= w.patience }
	for ripe(w.known.Min()) {
		w.next()
	}
	for w.known.Len() == 0 && ripe(w.unknown.Min()) {
		h, _ := w.unknown.PopMin()
		w.hand(h)
	}
}

// finish hands out the rest.
func (w *merger) finish() {
	for w.known.Len() > 0 {
		w.next()
	}
	for w.unknown.Len() > 0 {
		h, _ := w.unknown.PopMin()
		w.hand(h)
	}
}

// next hands out the first entry with a revision, and before it the entries without one that precede it.
func (w *merger) next() {
	k, _ := w.known.PopMin()
	w.answered.Delete(k)
	s := w.of[k.uid]
	if s.known--; s.last == k {
		s.last = nil
	}
	if first, some := w.answered.Min(); some && first.time.Before(k.time) {
		k.time = first.time
	}
	for _, h := range w.before(k, s) {
		if k.time.Before(h.time) {
			h.time = k.time
		}
		w.hand(h)
	}
	if k.op == remove {
		s.removals = slices.DeleteFunc(s.removals, func(r *held) bool { return r == k })
	}
	w.hand(k)
	if s.known == 0 {
		for _, h := range s.late {
			w.unknown.Set(h)
		}
		s.late = nil
	}
}

// before removes and returns the entries without a revision that precede k: those answered before k was made, except
// removals of objects that change later, and the binding of a pod that k shows on a node.
func (w *merger) before(k *held, s *stream) (here []*held) {
	for {
		h, some := w.unknown.Min()
		if !some || !h.time.Before(k.time) {
			break
		}
		w.unknown.PopMin()
		if of := w.of[h.uid]; h.op == remove && h.uid != "" && (of.known > 0 || h.uid == k.uid) {
			of.late = append(of.late, h)
			continue
		}
		here = append(here, h)
	}
	if k.uid != "" && objects.Assigned(k.object) {
		for _, h := range s.bindings {
			if _, waits := w.unknown.Delete(h); waits {
				here = append(here, h)
			}
		}
	}
	return here
}

// hand hands h out.
func (w *merger) hand(h *held) {
	if h.time.Before(w.last) {
		h.time = w.last
	}
	w.last = h.time
	w.cost -= h.cost
	s := w.of[h.uid]
	switch h.op {
	case bind:
		s.bindings = slices.DeleteFunc(s.bindings, func(b *held) bool { return b == h })
	case remove:
		s.gone = true
	case put:
		s.gone = false
	}
	w.out(&h.entry)
	if s.held--; s.gone && s.held == 0 {
		delete(w.of, h.uid)
	}
}
