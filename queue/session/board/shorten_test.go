package board

import (
	"math/rand/v2"
	"testing"

	"github.com/schedq/schedq/queue"
)

// TestShorten: a pod's moves, shortened before each new move, still contain its last two moves and its
// last wait, and there are at most three.
func TestShorten(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tiers := []queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated, queue.InFlight, queue.Scheduled}
	var whole, short *Transition
	from, waited := queue.None, 0
	for seq := range 2000 {
		to := tiers[rng.IntN(len(tiers))]
		if seq%100 > 50 { // a while without a wait
			to = queue.InFlight
		}
		next := func() *Transition { return &Transition{Transition: queue.Transition{From: from, To: to}, Seq: seq} }
		w, s := next(), next()
		if short != nil {
			short.Shorten()
		}
		w.SetPrev(whole)
		s.SetPrev(short)
		whole, short, from = w, s, to
		if (w.Prev() == nil) != (s.Prev() == nil) || w.Prev() != nil && w.Prev().Seq != s.Prev().Seq {
			t.Fatalf("before move %d is %+v, want %+v", seq, s.Prev(), w.Prev())
		}
		want, got := w.LastWait(), s.LastWait()
		if (want == nil) != (got == nil) || want != nil && want.Seq != got.Seq {
			t.Fatalf("after move %d it last waited until %+v, want %+v", seq, got, want)
		}
		if want != nil && want.Seq < seq-10 {
			waited++
		}
		n := 0
		for m := s; m != nil; m = m.Prev() {
			n++
		}
		if n > 3 {
			t.Fatalf("%d moves are linked after move %d", n, seq)
		}
	}
	if waited == 0 {
		t.Error("it never waited long ago")
	}
}
