package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
)

// begun returns rec with only the first share of it read.
func begun(rec *sources.Recording, share float64) *sources.Recording {
	part := *rec
	part.Events = rec.Events[:int(share*float64(len(rec.Events)))]
	of := long(&part)
	of.Unread, of.End = true, part.Events[len(part.Events)-1].Time
	of.Reread = func(ctx context.Context) iter.Seq2[sources.Event, error] { return rec.All(ctx) }
	return of
}

// shownOf formats what a frame shows of the recording.
func shownOf(f *session.Frame) string {
	waiting, _ := json.Marshal(f.Waiting())
	last := "nothing"
	if n := f.Log.Len(); n > 0 {
		last = f.Log.At(n - 1).String()
	}
	return fmt.Sprintf("%s: %d moves, the last is %s, %d seconds, %q: %s", f.Now, f.Log.Len(), last, f.Series.Len(), f.Filter, waiting)
}

// TestReading: the part read so far is shown as it is when all is read, and nothing after it. The whole
// recording then replaces it at the same time, with the filter, the marks and the what-ifs.
func TestReading(t *testing.T) {
	whole, err := embedded.Open(t.Context(), "lively-nopop")
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []*sources.Recording{whole, modelled(t, "lively-nopop")} {
		start, end := timeline.Span(kept)
		at := func(share float64) time.Time {
			return start.Add(time.Duration(share * float64(end.Sub(start)))).Truncate(time.Second)
		}
		run := func(rec *sources.Recording) *session.Session {
			s := session.New(rec, timeline.Options{Paused: true})
			go s.Run(t.Context())
			return s
		}
		all, s := run(kept), run(begun(kept, 0.3))
		same := func(what string, moment time.Time) {
			t.Helper()
			all.Seek(moment)
			s.Seek(moment)
			if got, want := shownOf(s.Sync()), shownOf(all.Sync()); got != want {
				t.Errorf("%s: it shows\n%s\nwant\n%s", what, got, want)
			}
		}
		read := at(0.5)
		ends := s.Sync().End
		for _, far := range []float64{0.01, 0.5} { // never less than there was
			s.ReadTo(session.Reading{To: at(far), Share: far, Left: time.Minute})
			if f := s.Sync(); f.Reading == nil || f.Reading.Share != far || f.End.Before(ends) || f.End.After(ends) && f.End.After(at(far)) {
				t.Errorf("read to %s, it ends at %s, %v", at(far), f.End, f.Reading)
			}
		}
		same("in the middle of what is read", at(0.3))
		same("where it is read to", s.Frame().End)
		if f := s.Sync(); f.AtEnd || f.End.After(read) || read.Sub(f.End) > time.Second {
			t.Errorf("at the end %v, at %s of %s", f.AtEnd, f.Now, f.End)
		}

		before := s.Sync()
		s.Seek(at(0.6))
		if f := s.Sync(); !f.Reply.Refused || !strings.Contains(f.Reply.Text, "is not read yet: read up to") || !f.Now.Equal(before.Now) {
			t.Errorf("beyond the part read: %+v, at %s", f.Reply, f.Now)
		}
		never, err := board.ParseCondition("attempts>1000000")
		if err != nil {
			t.Fatal(err)
		}
		s.Find(never, true)
		if f := s.Sync(); !f.Reply.Refused || !strings.Contains(f.Reply.Text, "(read up to ") || f.Now.After(f.End) || f.Log.Len() > 0 && f.Log.At(f.Log.Len()-1).Time.After(f.End) {
			t.Errorf("a search in the part read: %+v, at %s", f.Reply, f.Now)
		}
		if _, _, err := s.Rerun(t.Context(), "v1.24", nil); !errors.Is(err, session.ErrUnread) {
			t.Errorf("a rerun: %v", err)
		}
		if _, err := s.Cut(t.Context(), start, end); !errors.Is(err, session.ErrUnread) {
			t.Errorf("a scenario: %v", err)
		}

		s.Seek(at(0.4))
		behind := timeline.Mark{At: at(0.9), Text: "behind"}
		s.AddMarks([]timeline.Mark{{At: at(0.2), Text: "before"}, behind})
		s.FindMark(true)
		if f := s.Sync(); !f.Reply.Refused || !strings.Contains(f.Reply.Text, "is not read yet") {
			t.Errorf("a mark beyond the part read: %+v", f.Reply)
		}
		all.AddMarks([]timeline.Mark{{At: at(0.2), Text: "before"}, behind})
		some, err := filter.Parse("a")
		if err != nil {
			t.Fatal(err)
		}
		s.SetFilter(some)
		all.SetFilter(some)
		s.Complete(t.Context(), long(kept))
		f, want := s.Sync(), all.Sync()
		if f.Reading != nil || !f.End.Equal(want.End) || !f.Now.Equal(at(0.4)) || !slices.Equal(f.Notices, want.Notices) || len(f.OwnMarks) != 2 || !strings.HasPrefix(f.Reply.Text, "read to the end, ") {
			t.Errorf("once all is read: %v, at %s of %s, %q, %v, %q", f.Reading, f.Now, f.End, f.Notices, f.OwnMarks, f.Reply.Text)
		}
		all = run(kept) // a fresh session
		all.SetFilter(some)
		same("once all is read", at(0.4))
		same("later", at(0.95))
		if _, err := s.Cut(t.Context(), start, end); err != nil {
			t.Errorf("a scenario: %v", err)
		}
	}
}

// TestReadingInAWhatIf: a what-if outlives the reading of the recording, and leads back to where it left.
func TestReadingInAWhatIf(t *testing.T) {
	kept := modelled(t, "lively-nopop")
	start, _ := timeline.Span(kept)
	left := start.Add(30 * time.Second)
	s := session.New(begun(kept, 0.4), timeline.Options{Paused: true})
	go s.Run(t.Context())
	s.Seek(left)
	s.Sync()
	s.Fork()
	s.MoveAll()
	s.Compare(session.TheRecording)
	was := s.Sync()
	s.Complete(t.Context(), long(kept))
	f := s.Sync()
	if f.Fork == nil || f.Fork.Injected != 1 || f.Reading != nil || shownOf(f) != shownOf(was) || f.Comparison == nil || f.Comparison.Total != was.Comparison.Total {
		t.Errorf("the what-if is %+v, compared with %+v, and shows\n%s\nwant\n%s", f.Fork, f.Comparison, shownOf(f), shownOf(was))
	}
	s.LeaveFork()
	all := session.New(kept, timeline.Options{Paused: true})
	go all.Run(t.Context())
	all.Seek(left)
	if got, want := shownOf(s.Sync()), shownOf(all.Sync()); got != want {
		t.Errorf("back in the recording it shows\n%s\nwant\n%s", got, want)
	}
}

// TestReadingTellsMore: facts beyond the beginning are used once they are read, with a reply.
func TestReadingTellsMore(t *testing.T) {
	c := &world.Cluster{}
	c.Add(0, &sources.SchedulerStarted{Release: "v1.37.1", PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1})
	world.Change(c, 1, sources.Added, world.PendingPod("old", "1"), nil)
	world.Change(c, 2, sources.Added, world.PendingPod("new", "1"), nil)
	for i := range 10 {
		c.Add(float64(10*i+10), &sources.Mark{Text: "x"})
	}
	all := &sources.Recording{Name: "made", Events: c.Events, End: world.At(100)}
	without := *all
	without.Events = slices.Delete(slices.Clone(c.Events), 1, 2)
	s := session.New(begun(&without, 0.5), timeline.Options{Paused: true})
	go s.Run(t.Context())
	s.Seek(world.At(15))
	was := s.Sync()
	s.Complete(t.Context(), long(all))
	f := s.Sync()
	if len(was.Waiting()) != 1 || len(f.Waiting()) != 2 || !f.Now.Equal(was.Now) || f.Reply.Text != "read to the end, 12:01:40: 1 pod moved, now that the whole recording is known" {
		t.Errorf("%d pods waited, and %d do at %s: %q", len(was.Waiting()), len(f.Waiting()), f.Now, f.Reply.Text)
	}
}

// TestReadingEnds: an error while reading is reported, and the part read becomes the recording.
func TestReadingEnds(t *testing.T) {
	kept := modelled(t, "lively-nopop")
	s := session.New(begun(kept, 0.4), timeline.Options{Paused: true})
	go s.Run(t.Context())
	s.StopReading(errors.New("big.log:17: it is torn"))
	s.SeekEnd()
	f := s.Sync()
	if f.Reading != nil || !f.AtEnd || !slices.Contains(f.Notices, "big.log:17: it is torn") {
		t.Errorf("%v, at the end %v, %q", f.Reading, f.AtEnd, f.Notices)
	}
	s.ReadTo(session.Reading{To: f.End.Add(time.Hour)})
	if again := s.Sync(); !again.End.Equal(f.End) {
		t.Errorf("it ends at %s, and was to at %s", again.End, f.End)
	}
}

// TestPlayingAsItIsRead: playback waits at the end of the part read, and continues when there is more.
func TestPlayingAsItIsRead(t *testing.T) {
	kept := loggedMoves(5000) // 50 s, without a local scheduler, which does not run in a synctest bubble
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		s := session.New(begun(kept, 0.1), timeline.Options{Speed: 1000})
		go s.Run(ctx)
		time.Sleep(10 * time.Second)
		f := s.Sync()
		if !f.Playing || !f.Now.Equal(f.End) || f.AtEnd {
			t.Errorf("playing %v, at %s of %s, at the end %v", f.Playing, f.Now, f.End, f.AtEnd)
		}
		read := f.End.Add(20 * time.Second) // it continues at once
		s.ReadTo(session.Reading{To: read})
		time.Sleep(10 * time.Second)
		f = s.Sync()
		if !f.Playing || !f.Now.Equal(f.End) || f.End.Before(read.Add(-time.Second)) {
			t.Errorf("playing %v, at %s of %s", f.Playing, f.Now, f.End)
		}
		moves := 0
		for _, ev := range kept.Events {
			if !ev.Time.After(f.End) {
				moves++
			}
		}
		if f.Log.Len() != moves {
			t.Errorf("%d moves are shown, of %d", f.Log.Len(), moves)
		}
	})
}
