package sources

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestWaiting: events are taken in the order of time, of rank and in which they were added, also while others are added.
func TestWaiting(t *testing.T) {
	type added struct {
		at        time.Time
		rank, nth int
	}
	random := rand.New(rand.NewPCG(1, 2))
	var w Waiting
	var there []added
	take := func() {
		first := slices.MinFunc(there, func(a, b added) int {
			return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.rank, b.rank), cmp.Compare(a.nth, b.nth))
		})
		there = slices.DeleteFunc(there, func(a added) bool { return a == first })
		got, some := w.First()
		if !some || !got.Time.Equal(first.at) || got.Fact.(*Counts).Active != first.nth {
			t.Fatalf("%v %v, want %v", got, some, first)
		}
		if cost := w.Take(); cost != first.nth {
			t.Fatalf("it cost %d, want %d", cost, first.nth)
		}
	}
	for nth := range 2000 {
		a := added{time.Unix(random.Int64N(50), 0), random.IntN(3), nth}
		there = append(there, a)
		w.Add(a.rank, Event{Time: a.at, Fact: &Counts{Active: nth}}, nth)
		if random.IntN(3) == 0 {
			take()
		}
	}
	for len(there) > 0 {
		take()
	}
	if ev, some := w.First(); some {
		t.Errorf("%v is left", ev)
	}
}
