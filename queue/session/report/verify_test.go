package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// The truth of TestVerify: a is in activeQ for 2 s, in flight for 1 s, unschedulable for 7 s, in backoffQ
// for 4 s and in activeQ for another 6 s, until b ends the recording: 20 s in total.
var (
	aArrives = world.Move(10, "a", "active", "UnscheduledPodAdd")
	aPops    = world.Move(12, "a", "inflight", "")
	aFails   = world.Move(13, "a", "unschedulable", "ScheduleAttemptFailure")
	aIsWoken = world.Move(20, "a", "backoff", "NodeAdd")
	aReturns = world.Move(24, "a", "active", "BackoffComplete")
	bArrives = world.Move(30, "b", "active", "UnscheduledPodAdd")
)

func TestVerify(t *testing.T) {
	truth := world.RecordingOf(aArrives, aPops, aFails, aIsWoken, aReturns, bArrives)
	for _, c := range []struct {
		name           string
		model          *sources.Recording
		moves, matched int
		right          map[string]float64 // seconds by tier, if not all
		differences    []string
	}{
		{"perfect", truth, 6, 6, nil, nil},
		{"one missed", world.RecordingOf(aArrives, aPops, aFails, aReturns, bArrives), 5, 5,
			map[string]float64{"backoff": 0},
			[]string{"missed 12:00:20 default/a backoff NodeAdd, in unschedulable"}},
		{"one extra", world.RecordingOf(aArrives, aPops, aFails, world.Move(16, "a", "backoff", "NodeDelete"), aIsWoken, aReturns, bArrives), 7, 6,
			map[string]float64{"unschedulable": 3},
			[]string{"extra 12:00:16 default/a backoff NodeDelete, in "}},
		{"2 s late", world.RecordingOf(aArrives, aPops, aFails, world.Move(22, "a", "backoff", "NodeAdd"), aReturns, bArrives), 6, 5,
			map[string]float64{"backoff": 2},
			[]string{"missed 12:00:20 default/a backoff NodeAdd, in unschedulable", "extra 12:00:22 default/a backoff NodeAdd, in "}},
		{"1 s late", world.RecordingOf(aArrives, aPops, aFails, world.Move(21, "a", "backoff", "NodeAdd"), aReturns, bArrives), 6, 6,
			map[string]float64{"backoff": 3}, nil},
		{"1 s early", world.RecordingOf(aArrives, aPops, aFails, world.Move(19, "a", "backoff", "NodeAdd"), aReturns, bArrives), 6, 6,
			map[string]float64{"unschedulable": 6}, nil},
		{"another event", world.RecordingOf(aArrives, aPops, aFails, world.Move(20, "a", "backoff", "NodeUpdate"), aReturns, bArrives), 6, 5, nil,
			[]string{"missed 12:00:20 default/a backoff NodeAdd, in backoff", "extra 12:00:20 default/a backoff NodeUpdate, in "}},
		{"another pod", world.RecordingOf(aArrives, aPops, aFails, aIsWoken, aReturns, world.Move(30, "c", "active", "UnscheduledPodAdd")), 6, 5, nil,
			[]string{"missed 12:00:30 default/b active UnscheduledPodAdd, in ", "extra 12:00:30 default/c active UnscheduledPodAdd, in "}},
		{"before and after the truth", world.RecordingOf(world.Move(8, "c", "active", "UnscheduledPodAdd"), aArrives, aPops, aFails, aIsWoken, aReturns, bArrives, world.Move(32, "b", "inflight", "")),
			6, 6, nil, nil},
		{"nothing", world.RecordingOf(), 0, 0, map[string]float64{"active": 0, "inflight": 0, "unschedulable": 0, "backoff": 0}, []string{
			"missed 12:00:10 default/a active UnscheduledPodAdd, in ",
			"missed 12:00:12 default/a inflight , in ",
			"missed 12:00:13 default/a unschedulable ScheduleAttemptFailure, in ",
			"missed 12:00:20 default/a backoff NodeAdd, in ",
			"missed 12:00:24 default/a active BackoffComplete, in ",
			"missed 12:00:30 default/b active UnscheduledPodAdd, in ",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := Verify(t.Context(), c.model, truth, timeline.Options{}, math.MaxInt)
			if err != nil {
				t.Fatal(err)
			}
			m := v.Transitions
			if m.Truth != 6 || m.Model != c.moves || m.Matched != c.matched {
				t.Errorf("%d, %d and %d moves matched, want 6, %d and %d", m.Truth, m.Model, m.Matched, c.moves, c.matched)
			}
			precision := 1.0
			if c.moves > 0 {
				precision = float64(c.matched) / float64(c.moves)
			}
			if m.Recall != float64(c.matched)/6 || m.Precision != precision {
				t.Errorf("recall %v, precision %v", m.Recall, m.Precision)
			}
			sum := KindAgreement{}
			for _, k := range m.ByKind {
				sum.Truth, sum.Model, sum.Matched = sum.Truth+k.Truth, sum.Model+k.Model, sum.Matched+k.Matched
			}
			if sum != (KindAgreement{Truth: 6, Model: c.moves, Matched: c.matched}) {
				t.Errorf("the kinds add up to %+v", sum)
			}
			checkTime(t, v.PodSeconds, map[string]float64{"active": 8, "inflight": 1, "unschedulable": 7, "backoff": 4, "gated": 0}, c.right)
			var got []string
			for _, d := range v.Differences {
				got = append(got, fmt.Sprintf("%s %s %s %s %s, in %s", d.Kind, d.Time.Format("15:04:05"), d.Pod, d.To, d.Event, d.ModelTier))
			}
			if !slices.Equal(got, c.differences) {
				t.Errorf("differences\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.differences, "\n"))
			}
		})
	}
}

// checkTime compares the seconds of each tier; right contains those that are not all right.
func checkTime(t *testing.T, got TimeAgreement, truth, right map[string]float64) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
	seconds := func(s Seconds) float64 { return float64(s) / 1e9 }
	total, totalRight := 0.0, 0.0
	for _, tier := range got.Tiers {
		want, all := right[tier.Tier]
		if !all {
			want = truth[tier.Tier]
		}
		wantShare := 1.0
		if truth[tier.Tier] > 0 {
			wantShare = want / truth[tier.Tier]
		}
		if !near(seconds(tier.Truth), truth[tier.Tier]) || !near(seconds(tier.Right), want) || !near(tier.Share, wantShare) {
			t.Errorf("%s: %v s, right %v s, share %v, want %v, %v and %v", tier.Tier, seconds(tier.Truth), seconds(tier.Right), tier.Share, truth[tier.Tier], want, wantShare)
		}
		total, totalRight = total+truth[tier.Tier], totalRight+want
	}
	if len(got.Tiers) != len(truth) || !near(seconds(got.Total), total) || !near(seconds(got.Right), totalRight) || !near(got.Share, totalRight/total) {
		t.Errorf("in total %v s, right %v s, share %v, want %v and %v", seconds(got.Total), seconds(got.Right), got.Share, total, totalRight)
	}
}

// TestVerifyGated: gating moves of the model do not count if the scheduler does not log them.
func TestVerifyGated(t *testing.T) {
	gated := world.Move(11, "g", "gated", "UnscheduledPodAdd")
	for release, extra := range map[sources.SafeText]int{"v1.32.9": 0, "v1.33.0": 1, "": 1} {
		truth := world.RecordingOf(aArrives, aPops, aFails)
		truth.Events = append([]sources.Event{{Time: world.At(10), Fact: &sources.SchedulerStarted{Release: release}}}, truth.Events...)
		v, err := Verify(t.Context(), world.RecordingOf(aArrives, gated, aPops, aFails), truth, timeline.Options{}, math.MaxInt)
		if err != nil || v.Transitions.Model != 3+extra {
			t.Errorf("with %q the model has %d moves that count, %v", release, v.Transitions.Model, err)
		}
	}
}

func TestVerifyKinds(t *testing.T) {
	v, err := Verify(t.Context(), world.RecordingOf(aArrives, aPops, aFails, world.Move(21.5, "a", "backoff", "NodeAdd")), world.RecordingOf(aArrives, aPops, aFails, aIsWoken, bArrives), timeline.Options{}, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	want := []KindAgreement{
		{"active", "UnscheduledPodAdd", 2, 1, 1},
		{"backoff", "NodeAdd", 1, 1, 0},
		{"inflight", "", 1, 1, 1},
		{"unschedulable", "ScheduleAttemptFailure", 1, 1, 1},
	}
	if !slices.Equal(v.Transitions.ByKind, want) {
		t.Errorf("got  %v\nwant %v", v.Transitions.ByKind, want)
	}
}

// TestVerifyRestated: a move that leaves the pod in its tier counts as a move and ends no stay.
func TestVerifyRestated(t *testing.T) {
	arrives, opens := world.Move(10, "a", "gated", "UnscheduledPodAdd"), world.Move(30, "a", "active", "TargetPodUpdatePodSchedulingGatesEliminated")
	again := world.Move(30.5, "a", "active", "TargetPodUpdatePodSchedulingGatesEliminated")
	again.Fact.(*sources.Move).Restated = true
	regated, end := world.Move(20, "a", "gated", "AssignedPodDelete"), world.Move(33, "b", "active", "UnscheduledPodAdd")
	v, err := Verify(t.Context(), world.RecordingOf(arrives, opens, end), world.RecordingOf(arrives, regated, opens, again, end), timeline.Options{}, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	if m := v.Transitions; m.Truth != 5 || m.Model != 3 || m.Matched != 3 {
		t.Errorf("%+v", m)
	}
	checkTime(t, v.PodSeconds, map[string]float64{"gated": 20, "active": 3, "inflight": 0, "unschedulable": 0, "backoff": 0}, nil)
}

// TestVerifyStaysToTheEnd: stays last until the truth's last event, even if that is not a move.
func TestVerifyStaysToTheEnd(t *testing.T) {
	truth := world.RecordingOf(aArrives, sources.Event{Time: world.At(40), Fact: &sources.Mark{Text: "the end"}})
	v, err := Verify(t.Context(), world.RecordingOf(world.Move(11, "a", "active", "UnscheduledPodAdd"), world.Move(35, "a", "inflight", "")), truth, timeline.Options{}, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	if m := v.Transitions; m.Truth != 1 || m.Model != 1 || m.Matched != 1 {
		t.Errorf("%+v", m)
	}
	checkTime(t, v.PodSeconds, map[string]float64{"active": 30, "gated": 0, "inflight": 0, "unschedulable": 0, "backoff": 0}, map[string]float64{"active": 24})
}

// TestVerifyEndsWithTheTruth: the model's moves after the last line of the truth's log are not judged, but
// may match the truth's last moves.
func TestVerifyEndsWithTheTruth(t *testing.T) {
	for _, c := range []struct {
		name    string
		end     float64
		model   []sources.Event
		matched int
		extra   int
	}{
		{"within the last line's second", 30.5, []sources.Event{bArrives, world.Move(30.4, "b", "inflight", "")}, 1, 1},
		{"at the last line", 30.5, []sources.Event{bArrives, world.Move(30.5, "b", "inflight", "")}, 1, 1},
		{"behind the last line", 30.5, []sources.Event{bArrives, world.Move(30.6, "b", "inflight", "")}, 1, 0},
		{"the same, and late", 30.5, []sources.Event{world.Move(30.6, "b", "active", "UnscheduledPodAdd"), world.Move(30.7, "b", "inflight", "")}, 1, 0},
		{"no more than its moves is known of the truth", 0, []sources.Event{bArrives, world.Move(30.6, "b", "inflight", "")}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			truth := world.RecordingOf(bArrives)
			if c.end > 0 {
				truth.End = world.At(c.end)
			}
			v, err := Verify(t.Context(), world.RecordingOf(c.model...), truth, timeline.Options{}, math.MaxInt)
			if err != nil {
				t.Fatal(err)
			}
			if m := v.Transitions; m.Truth != 1 || m.Matched != c.matched || m.Model != c.matched+c.extra || len(v.Differences) != c.extra {
				t.Errorf("%d of the model, %d matched, differences %v, want %d and %d", m.Model, m.Matched, v.Differences, c.matched+c.extra, c.matched)
			}
		})
	}
}

// TestMatchIsMaximal: no two moves that could match stay unmatched, so a move may not match the nearest one.
func TestMatchIsMaximal(t *testing.T) {
	movesAt := func(event string, moves ...float64) (events []sources.Event) {
		for _, s := range moves {
			events = append(events, world.Move(s, "a", "active", event))
		}
		return events
	}
	truth, model := movesAt("NodeAdd", 20, 20.5, 22, 25), movesAt("NodeAdd", 18, 20.9, 21.2, 21.4, 21.5)
	v, err := Verify(t.Context(), world.RecordingOf(model...), world.RecordingOf(truth...), timeline.Options{}, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	var alone []string
	for _, d := range v.Differences {
		alone = append(alone, d.Kind+" "+d.Time.Format("05.0"))
	}
	if want := []string{"extra 21.5", "missed 25.0"}; v.Transitions.Matched != 3 || !slices.Equal(alone, want) {
		t.Errorf("%d matched, unmatched are %q, want 3 and %q", v.Transitions.Matched, alone, want)
	}
}

func TestVerifyWithoutTruth(t *testing.T) {
	rec := world.RecordingOf(aArrives)
	pods := world.RecordingOf(sources.Event{Time: world.At(10), Fact: &sources.ObjectChange{Verb: sources.Added, Object: cluster.Placeholder(world.Key("a"))}})
	for _, truth := range []*sources.Recording{world.RecordingOf(), pods, world.RecordingOf(world.Move(10, "a", "nowhere", ""))} {
		if v, err := Verify(t.Context(), rec, truth, timeline.Options{}, math.MaxInt); err == nil || !strings.HasPrefix(err.Error(), "moves contains no scheduler moves") {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

// TestVerificationJSON: the field names are the documented ones.
func TestVerificationJSON(t *testing.T) {
	v, err := Verify(t.Context(), world.RecordingOf(aArrives, bArrives), world.RecordingOf(aArrives, aPops), timeline.Options{}, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(v)
	want := `{"source":"moves","truth":"moves","start":"2026-11-21T12:00:10Z","end":"2026-11-21T12:00:12Z","answers":{"tier":{"asked":2,"right":2},"plugins":{"asked":0,"right":0},"return":{"asked":0,"right":0},"attempts":{"asked":0,"right":0},"longestWrongSeconds":0},` +
		`"transitions":{"truth":2,"model":1,"matched":1,"recall":0.5,"precision":1,"byKind":[` +
		`{"to":"active","event":"UnscheduledPodAdd","truth":1,"model":1,"matched":1},{"to":"inflight","event":"","truth":1,"model":0,"matched":0}]},` +
		`"podSeconds":{"total":2,"right":2,"share":1,"tiers":[{"tier":"active","truth":2,"right":2,"share":1},{"tier":"backoff","truth":0,"right":0,"share":1},` +
		`{"tier":"unschedulable","truth":0,"right":0,"share":1},{"tier":"gated","truth":0,"right":0,"share":1},{"tier":"inflight","truth":0,"right":0,"share":1}]},` +
		`"differences":[{"kind":"missed","time":"` + world.At(12).Format("2006-01-02T15:04:05Z") + `","pod":"default/a","to":"inflight","modelTier":"active"}]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}
