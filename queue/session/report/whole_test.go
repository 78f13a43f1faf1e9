package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// The tests in this file compare results with a simple implementation that has all moves of both runs.

// wholeMove is a move of a run.
type wholeMove struct {
	*board.Transition
	tier         queue.Tier // the pod's tier after it
	out, matched bool       // not compared; has a match
}

func wholeMoves(t *rapid.T, rec *sources.Recording) (moves []*wholeMove) {
	if err := timeline.Replay(context.Background(), rec, timeline.Options{}, func(m *board.Transition) error {
		moves = append(moves, &wholeMove{Transition: m, tier: m.Pod.Tier})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return moves
}

// matchWhole matches each move of got with the earliest unmatched one of want within a second.
func matchWhole(want, got []*wholeMove) (pairs int) {
	for _, g := range got {
		i := slices.IndexFunc(want, func(w *wholeMove) bool {
			same := w.Pod.Key == g.Pod.Key && w.To == g.To && w.Event == g.Event && w.Time.Sub(g.Time).Abs() <= tolerance
			return same && !w.matched && !w.out
		})
		if i >= 0 && !g.out {
			want[i].matched, g.matched = true, true
			pairs++
		}
	}
	return pairs
}

// tierOf returns the tier of that pod in a run at that time.
func tierOf(moves []*wholeMove, pod string, at time.Time) (tier queue.Tier) {
	for _, m := range moves {
		if m.Pod.Key.String() == pod && !m.Time.After(at) {
			tier = m.tier
		}
	}
	return tier
}

// aloneWhole returns the moves without a match in time order.
func aloneWhole(want, got []*wholeMove) []Difference {
	all := []Difference{}
	add := func(kind string, m *wholeMove) {
		d := Difference{Kind: kind, Time: m.Time.UTC(), Pod: m.Pod.Key.String(), To: m.To.String(), Event: m.Event}
		if kind == "missed" {
			d.ModelTier = tierOf(got, d.Pod, m.Time).String()
		} else if m.Pod.Cause != nil {
			d.Because = m.Pod.Cause.Sentence(words.Zone{})
		}
		if !m.matched && !m.out {
			all = append(all, d)
		}
	}
	for _, m := range want {
		add("missed", m)
	}
	for _, m := range got {
		add("extra", m)
	}
	slices.SortStableFunc(all, func(a, b Difference) int { return a.Time.Compare(b.Time) })
	return all
}

// spentWhole returns the time that want's pods spent in each tier, and the part in which got's did too.
func spentWhole(want, got []*wholeMove, begin, end time.Time) (spent, right map[string]Seconds) {
	spent, right = map[string]Seconds{}, map[string]Seconds{}
	cuts := []time.Time{begin, end}
	pods := map[string]bool{}
	for _, m := range slices.Concat(want, got) {
		pods[m.Pod.Key.String()] = true
		if m.Time.After(begin) && m.Time.Before(end) {
			cuts = append(cuts, m.Time)
		}
	}
	slices.SortFunc(cuts, time.Time.Compare)
	for pod := range pods {
		for i := 1; i < len(cuts); i++ {
			took := Seconds(cuts[i].Sub(cuts[i-1]))
			tier := tierOf(want, pod, cuts[i-1])
			if spent[tier.String()] += took; tierOf(got, pod, cuts[i-1]) == tier {
				right[tier.String()] += took
			}
		}
	}
	return spent, right
}

// twoRuns draws two runs of less than a minute: most moves are the same, within a second and a half.
func twoRuns(t *rapid.T) (one, other []sources.Event) {
	tiers := []sources.Tier{"active", "backoff", "unschedulable", "gated", "inflight", "scheduled", "deleted"}
	for range rapid.IntRange(1, 40).Draw(t, "moves") {
		ms := rapid.IntRange(10_000, 25_000).Draw(t, "ms")
		pod := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "pod")
		to := rapid.SampledFrom(tiers).Draw(t, "to")
		event := rapid.SampledFrom([]string{"", "UnscheduledPodAdd", "NodeAdd"}).Draw(t, "event")
		which := rapid.IntRange(0, 5).Draw(t, "which")
		if which != 0 {
			one = append(one, world.Move(float64(ms)/1000, pod, to, event))
		}
		if later := rapid.SampledFrom([]int{0, 0, 1, -300, 999, 1000, -1000, 1001, -1500, 4000}).Draw(t, "later"); which != 1 {
			other = append(other, world.Move(float64(ms+later)/1000, pod, to, event))
		}
	}
	for _, events := range [][]sources.Event{one, other} {
		slices.SortStableFunc(events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	}
	return one, other
}

// TestVerifyEqualsSimpleVerify: Verify, which plays two runs side by side, equals the simple implementation.
func TestVerifyEqualsSimpleVerify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		recorded, modelled := twoRuns(t)
		if len(recorded) == 0 {
			return
		}
		rec, truth := world.RecordingOf(modelled...), world.RecordingOf(recorded...)
		end := recorded[len(recorded)-1].Time
		if rapid.Bool().Draw(t, "truth continues") {
			end = end.Add(3 * time.Second)
			truth.Events = append(truth.Events, sources.Event{Time: end, Fact: &sources.Mark{}})
		}
		if after := rapid.SampledFrom([]int{-1, 0, 300, 999, 2000}).Draw(t, "ends after"); after >= 0 {
			truth.End = end.Add(time.Duration(after) * time.Millisecond)
		}
		var began time.Time
		if rapid.Bool().Draw(t, "attached") {
			began = world.At(float64(rapid.IntRange(9_000, 16_000).Draw(t, "began")) / 1000)
			rec.Events = append(rec.Events, sources.Event{Time: began, Fact: &sources.Attached{}})
			slices.SortStableFunc(rec.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
		}
		want, got := wholeMoves(t, truth), wholeMoves(t, rec)
		v, err := Verify(context.Background(), rec, truth, timeline.Options{}, math.MaxInt)
		if len(want) == 0 || want[len(want)-1].Time.Before(began) {
			if err == nil {
				t.Error("no error, but there is nothing to compare")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		first, last := want[0].Time, want[len(want)-1].Time
		if began.After(first) {
			first = began
		}
		moves, model := 0, 0
		for _, m := range want {
			if m.out = m.Time.Before(began); !m.out {
				moves++
			}
		}
		for _, m := range got {
			if m.out = first.Sub(m.Time) > tolerance || m.Time.Sub(last) > tolerance || m.From == queue.None && m.Time.Equal(began); !m.out {
				model++
			}
		}
		pairs := matchWhole(want, got)
		for _, m := range got {
			if !m.out && !m.matched && !truth.End.IsZero() && m.Time.After(truth.End) {
				m.out = true
				model--
			}
		}
		if m := v.Transitions; m.Truth != moves || m.Model != model || m.Matched != pairs {
			t.Errorf("%d, %d and %d moves matched, want %d, %d and %d", m.Truth, m.Model, m.Matched, moves, model, pairs)
		}
		differences := aloneWhole(want, got)
		if !reflect.DeepEqual(v.Differences, differences) || v.More != 0 {
			t.Errorf("differences\n%v\nwant\n%v", v.Differences, differences)
		}
		spent, right := spentWhole(want, got, first, end)
		for _, tier := range v.PodSeconds.Tiers {
			if tier.Truth != spent[tier.Tier] || tier.Right != right[tier.Tier] {
				t.Errorf("%s: %v, right %v, want %v, %v", tier.Tier, time.Duration(tier.Truth), time.Duration(tier.Right), time.Duration(spent[tier.Tier]), time.Duration(right[tier.Tier]))
			}
		}
		most := rapid.IntRange(0, 5).Draw(t, "most")
		few, err := Verify(context.Background(), rec, truth, timeline.Options{}, most)
		named := differences[:min(most, len(differences))]
		if err != nil || !reflect.DeepEqual(few.Differences, named) || few.More != len(differences)-len(named) {
			t.Errorf("%d differences: %d listed and %d more, %v", len(differences), len(few.Differences), few.More, err)
		}
	})
}

// TestCompareEqualsSimpleCompare: the same for Compare.
func TestCompareEqualsSimpleCompare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := twoRuns(t)
		one, other := world.RecordingOf(a...), world.RecordingOf(b...)
		one.End, other.End = world.At(40), world.At(41)
		c, err := compare(context.Background(), [2]runSpec{{rec: one}, {rec: other}})
		if err != nil {
			t.Fatal(err)
		}
		want, got := wholeMoves(t, one), wholeMoves(t, other)
		if pairs := matchWhole(want, got); c.Same != pairs {
			t.Errorf("%d moves are the same, want %d", c.Same, pairs)
		}
		var first *Difference
		if all := aloneWhole(want, got); len(all) > 0 {
			first = &all[0]
		}
		if !reflect.DeepEqual(c.First, first) {
			t.Errorf("the first difference is %+v, want %+v", c.First, first)
		}
		outcomes := [2]map[string]*outcome{{}, {}}
		for i, moves := range [][]*wholeMove{want, got} {
			for _, m := range moves {
				pod := m.Pod.Key.String()
				if outcomes[i][pod] == nil {
					outcomes[i][pod] = &outcome{}
				}
				outcomes[i][pod].note(m.Transition)
			}
		}
		pods := []string{}
		for pod, o := range outcomes[0] {
			p := outcomes[1][pod]
			if p == nil {
				p = &outcome{}
			}
			if o.differs(*p) {
				pods = append(pods, fmt.Sprint(PodComparison{pod, o.public(one.End), p.public(other.End)}))
			}
		}
		var listed []string
		for _, p := range c.Pods {
			listed = append(listed, fmt.Sprint(p))
		}
		slices.SortFunc(pods, cmp.Compare[string])
		slices.SortFunc(listed, cmp.Compare[string])
		if !slices.Equal(listed, pods) {
			t.Errorf("pods with different outcomes\n%q\nwant\n%q", listed, pods)
		}
	})
}
