package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/scenario"
)

// long returns rec as one that is not kept.
func long(rec *sources.Recording) *sources.Recording {
	gist := session.NewGist()
	for _, ev := range rec.Events {
		gist.Add(ev)
	}
	of, kept := *rec, *rec
	of.Events, of.Gist = nil, gist.Events()
	of.Again = func(ctx context.Context) iter.Seq2[sources.Event, error] { return kept.All(ctx) }
	return &of
}

// modelled returns the embedded recording of that name without what only the scheduler's log tells.
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

// TestLong: whatever is asked of a recording that is not kept is answered as of the same one that is.
func TestLong(t *testing.T) {
	told, err := embedded.Open(t.Context(), "lively-nopop")
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []*sources.Recording{told, modelled(t, "lively-nopop")} {
		start, end := session.Span(kept)
		pod := podOf(kept)
		answers := map[string]func(rec *sources.Recording) (any, error){
			"rerun": func(rec *sources.Recording) (any, error) {
				return session.Compare(t.Context(), rec, session.Options{Release: "v1.24"}, session.Options{})
			},
			"verify": func(rec *sources.Recording) (any, error) {
				return session.Verify(t.Context(), rec, told, session.Options{})
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
			"find":    func(rec *sources.Recording) (any, error) { return session.FindPod(t.Context(), rec, pod.Name) },
			"no such": func(rec *sources.Recording) (any, error) { return session.FindPod(t.Context(), rec, pod.Name+"x") },
		}
		for _, share := range []time.Duration{1, 4, 10} {
			at := start.Add(end.Sub(start) * share / 10)
			answers[fmt.Sprintf("list at %s", at)] = func(rec *sources.Recording) (any, error) {
				return session.ListPods(t.Context(), rec, session.Options{}, at)
			}
			answers[fmt.Sprintf("explain at %s", at)] = func(rec *sources.Recording) (any, error) {
				return session.ExplainPod(t.Context(), rec, session.Options{}, pod, at)
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

// TestLongOnTheScreen: a recording that is not kept is played, sought in and run again as one that is.
func TestLongOnTheScreen(t *testing.T) {
	kept := modelled(t, "lively-nopop")
	start, end := session.Span(kept)
	frames := func(rec *sources.Recording) []string {
		s := session.New(rec, session.Options{Paused: true})
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
		t.Errorf("it shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLongBreaks: a recording that can be read once and not again says so, wherever that is found.
func TestLongBreaks(t *testing.T) {
	kept := modelled(t, "lively-nopop")
	_, end := session.Span(kept)
	broken := long(kept)
	gone := errors.New("big.log: gone")
	broken.Again = func(context.Context) iter.Seq2[sources.Event, error] {
		return func(yield func(sources.Event, error) bool) {
			for _, ev := range kept.Events[:len(kept.Events)/2] {
				if !yield(ev, nil) {
					return
				}
			}
			yield(sources.Event{}, gone)
		}
	}
	_, listing := session.ListPods(t.Context(), broken, session.Options{}, end)
	_, comparing := session.Compare(t.Context(), broken, session.Options{}, session.Options{})
	_, cutting := scenario.Cut(t.Context(), broken, time.Time{}, time.Time{})
	_, finding := session.FindPod(t.Context(), broken, "nobody")
	for what, err := range map[string]error{"list": listing, "rerun": comparing, "cut": cutting, "find": finding} {
		if !errors.Is(err, gone) {
			t.Errorf("%s: %v, want %v", what, err, gone)
		}
	}
	s := session.New(broken, session.Options{Paused: true})
	go s.Run(t.Context())
	s.Seek(end)
	if f := s.Sync(); !slices.Contains(f.Notices, gone.Error()) {
		t.Errorf("the screen says %q", f.Notices)
	}
}
