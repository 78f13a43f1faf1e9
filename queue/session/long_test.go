package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/scenario"
)

// long returns rec as a recording that is not in memory.
func long(rec *sources.Recording) *sources.Recording {
	summary := cluster.NewSummary()
	for _, ev := range rec.Events {
		summary.Add(ev)
	}
	of, kept := *rec, *rec
	of.Events = summary.Events()
	of.Reread = func(ctx context.Context) iter.Seq2[sources.Event, error] { return kept.All(ctx) }
	return &of
}

// modelled returns the embedded recording without the facts that only the scheduler's log contains.
func modelled(t *testing.T, name string) *sources.Recording {
	t.Helper()
	rec, err := embedded.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	of := *rec
	of.Events = slices.DeleteFunc(slices.Clone(rec.Events), func(ev sources.Event) bool {
		switch ev.Fact.(type) {
		case *sources.Move, *sources.Logged, *sources.Counts:
			return true
		}
		return false
	})
	return &of
}

// attempted reduces whole to a log that only contains the ends of attempts.
func attempted(whole *sources.Recording) *sources.Recording {
	of := *whole
	of.Events = []sources.Event{{Time: whole.Events[0].Time, Fact: &sources.Logged{Verbosity: 3}}}
	for _, ev := range whole.Events {
		m, is := ev.Fact.(*sources.Move)
		began := ev.Time.Add(-time.Duration(1+len(of.Events)%7) * time.Second)
		switch {
		case !is:
		case m.Event == queue.ScheduleAttemptFailure:
			of.Events = append(of.Events, sources.Event{Time: ev.Time, Fact: &sources.FailedAttempt{Pod: m.Pod, Log: true, Message: m.Message, Plugins: m.Plugins, Began: began}})
		case m.To == sources.TierScheduled:
			of.Events = append(of.Events, sources.Event{Time: ev.Time, Fact: &sources.Bound{Pod: m.Pod, Node: m.Node, Began: began}})
		}
	}
	return &of
}

// TestLong: every analysis of a recording gives the same result whether or not the recording is in memory.
func TestLong(t *testing.T) {
	name := "workshop"
	if !testing.Short() {
		name = "lively-nopop"
	}
	whole, err := embedded.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []*sources.Recording{whole, modelled(t, name), attempted(whole)} {
		start, end := timeline.Span(kept)
		pod := podOf(whole)
		answers := map[string]func(rec *sources.Recording) (any, error){
			"rerun": func(rec *sources.Recording) (any, error) {
				return report.Compare(t.Context(), rec, timeline.Options{Release: "v1.24"}, timeline.Options{})
			},
			"verify": func(rec *sources.Recording) (any, error) {
				return report.Verify(t.Context(), rec, whole, timeline.Options{}, math.MaxInt)
			},
			"cut": func(rec *sources.Recording) (any, error) {
				s, err := scenario.Cut(t.Context(), rec, start.Add(5*time.Second), end)
				if err != nil {
					return nil, err
				}
				var b bytes.Buffer
				err = scenario.Write(&b, s)
				return b.String(), err
			},
			"find":    func(rec *sources.Recording) (any, error) { return cluster.FindPod(t.Context(), rec, pod.Name) },
			"no such": func(rec *sources.Recording) (any, error) { return cluster.FindPod(t.Context(), rec, pod.Name+"x") },
		}
		for _, share := range []time.Duration{1, 4, 10} {
			at := start.Add(end.Sub(start) * share / 10)
			answers[fmt.Sprintf("list at %s", at)] = func(rec *sources.Recording) (any, error) {
				return session.ListPods(t.Context(), rec, timeline.Options{}, at)
			}
			answers[fmt.Sprintf("explain at %s", at)] = func(rec *sources.Recording) (any, error) {
				return session.ExplainPod(t.Context(), rec, timeline.Options{}, pod, at)
			}
		}
		for question, ask := range answers {
			got, gotErr := ask(long(kept))
			want, wantErr := ask(kept)
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(want)
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || !bytes.Equal(a, b) {
				t.Errorf("%s: %.400s, %v, want %.400s, %v", question, a, gotErr, b, wantErr)
			}
		}
	}
}

// TestLongRecordingInSession: a recording that is not in memory is shown like one that is.
func TestLongRecordingInSession(t *testing.T) {
	kept := modelled(t, "lively-nopop")
	start, end := timeline.Span(kept)
	frames := func(rec *sources.Recording) []string {
		s := session.New(rec, timeline.Options{Paused: true})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go s.Run(ctx)
		var all []string
		for _, share := range []time.Duration{3, 9, 1, 10, 5} {
			s.Seek(start.Add(end.Sub(start) * share / 10))
			f := s.Sync()
			waiting, _ := json.Marshal(f.Waiting())
			all = append(all, fmt.Sprintf("%s %d of %d moves, to %s, %q: %s", f.Now, f.Log.Len(), f.Known, f.End, f.Notices, waiting))
		}
		return all
	}
	if got, want := frames(long(kept)), frames(kept); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLongRecordingFails: a recording that can't be read a second time reports that everywhere.
func TestLongRecordingFails(t *testing.T) {
	kept := modelled(t, "lively-nopop")
	_, end := timeline.Span(kept)
	broken := long(kept)
	gone := errors.New("big.log: gone")
	broken.Reread = func(context.Context) iter.Seq2[sources.Event, error] {
		return func(yield func(sources.Event, error) bool) {
			for _, ev := range kept.Events[:len(kept.Events)/2] {
				if !yield(ev, nil) {
					return
				}
			}
			yield(sources.Event{}, gone)
		}
	}
	_, listing := session.ListPods(t.Context(), broken, timeline.Options{}, end)
	_, comparing := report.Compare(t.Context(), broken, timeline.Options{}, timeline.Options{})
	_, cutting := scenario.Cut(t.Context(), broken, time.Time{}, time.Time{})
	_, finding := cluster.FindPod(t.Context(), broken, "nobody")
	for what, err := range map[string]error{"list": listing, "rerun": comparing, "cut": cutting, "find": finding} {
		if !errors.Is(err, gone) {
			t.Errorf("%s: %v, want %v", what, err, gone)
		}
	}
	s := session.New(broken, timeline.Options{Paused: true})
	go s.Run(t.Context())
	s.Seek(end)
	if f := s.Sync(); !slices.Contains(f.Notices, gone.Error()) {
		t.Errorf("notices %q", f.Notices)
	}
}

// loggedMoves returns a scheduler log with that many moves of 50 pods.
func loggedMoves(moves int) *sources.Recording {
	rng := rand.New(rand.NewPCG(1, 2))
	rec := &sources.Recording{Name: "made"}
	for i := range moves {
		m := &sources.Move{Pod: world.Key(fmt.Sprint("p-", rng.IntN(50))), To: sources.TierInFlight}
		switch rng.IntN(4) {
		case 0:
			m.To, m.Event = sources.TierActive, "UnscheduledPodAdd"
		case 1:
			m.To, m.Event, m.Plugins = sources.TierUnschedulable, "ScheduleAttemptFailure", []string{"NodeAffinity"}
		case 2:
			m.To, m.Event = sources.TierBackoff, "NodeAdd"
		}
		rec.Events = append(rec.Events, sources.Event{Time: world.At(float64(i) / 100), Fact: m})
	}
	return rec
}

// TestHistoryIsLimited: the history of a long recording is limited, yet every moment can be shown.
func TestHistoryIsLimited(t *testing.T) {
	kept := loggedMoves(20_000)
	start, end := timeline.Span(kept)
	run := func(rec *sources.Recording, memory int64) *session.Session {
		s := session.New(rec, timeline.Options{Paused: true, Memory: memory})
		go s.Run(t.Context())
		return s
	}
	const bound = 4 << 20
	all, bounded := run(kept, 0), run(long(kept), bound)
	shown := func(f *session.Frame) string {
		waiting, _ := json.Marshal(f.Waiting())
		return fmt.Sprintf("%s after %s: %s", f.Now, f.Log.At(f.Log.Len()-1), waiting)
	}
	for _, share := range []time.Duration{10, 100, 95, 20, 21, 90, 3, 100} {
		at := start.Add(end.Sub(start) * share / 100)
		all.Seek(at)
		bounded.Seek(at)
		want, f := all.Sync(), bounded.Sync()
		if got, want := shown(f), shown(want); got != want {
			t.Fatalf("at %d %% got\n%s\nwant\n%s", share, got, want)
		}
		if f.Log.Len() > 0 && share == 100 && (f.Known > want.Known/2 || !strings.Contains(strings.Join(f.Notices, "\n"), "was dropped")) {
			t.Fatalf("%[2]d of %[1]d moves are kept, notices %[3]q", want.Known, f.Known, f.Notices)
		}
	}
	if size := bounded.Size(); size > 2*bound {
		t.Errorf("%d bytes are kept, of %d", size, bound)
	}

	first := bounded.Frame().Log.At(0)
	none, err := board.ParseCondition("attempts>1000000")
	if err != nil {
		t.Fatal(err)
	}
	bounded.Find(none, false)
	if f := bounded.Sync(); !f.Reply.Refused || !strings.Contains(f.Reply.Text, "where the kept history starts") {
		t.Errorf("a search back: %+v", f.Reply)
	}
	bounded.Seek(first.Time)
	bounded.Sync()
	bounded.Step(-1)
	all.Seek(first.Time)
	all.Step(-1)
	f, want := bounded.Sync(), all.Sync()
	if got, want := f.Log.At(f.Log.Len()-1).String(), want.Log.At(want.Log.Len()-1).String(); got != want {
		t.Errorf("the step back goes to %s, want %s", got, want)
	}
	bounded.SeekStart()
	if f := bounded.Sync(); !f.Now.Equal(f.Start) || len(f.Notices) > 0 && strings.Contains(f.Notices[0], "was dropped") {
		t.Errorf("the start is at %s, and got %q", f.Now, f.Notices)
	}
}
