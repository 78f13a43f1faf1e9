package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources/disk"
)

// failing is a file whose reads or writes fail or block on demand.
type failing struct {
	archive.File
	written, read error
	slow          chan chan struct{} // if not nil, each write sends a channel and continues when that is closed
}

func (f *failing) WriteAt(p []byte, at int64) (int, error) {
	if f.written != nil {
		return 0, f.written
	}
	if f.slow != nil {
		disk := make(chan struct{})
		f.slow <- disk
		<-disk
	}
	return f.File.WriteAt(p, at)
}

func (f *failing) ReadAt(p []byte, at int64) (int, error) {
	if f.read != nil {
		return 0, f.read
	}
	return f.File.ReadAt(p, at)
}

// inFile runs two sessions of loggedMoves(moves) to the end: kept has little history in memory and the rest in
// file, all has everything in memory.
func inFile(t *testing.T, moves int) (kept, all *session.Session, file *failing) {
	t.Helper()
	rec := loggedMoves(moves)
	_, end := timeline.Span(rec)
	file = &failing{}
	folder := t.TempDir()
	kept = session.New(long(rec), timeline.Options{Paused: true, Memory: 1, OpenArchive: func() (archive.File, error) {
		f, err := disk.Scratch(t.Context(), folder)
		file.File = f
		return file, err
	}})
	all = session.New(rec, timeline.Options{Paused: true})
	for _, s := range []*session.Session{kept, all} {
		go s.Run(t.Context())
		s.Seek(end)
		s.Sync()
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("the file has a name: %v, %v", left, err)
	}
	return kept, all, file
}

// inWords formats a frame: the time, the moves, the waiting pods with their moves, and the series.
func inWords(f *session.Frame) string {
	var s strings.Builder
	waiting, _ := json.Marshal(f.Waiting())
	fmt.Fprintf(&s, "%s, %d moves of %d, bound %d, %q\n%s\n", f.Now, f.Log.Len(), f.Known, f.Board.Bound(), f.Reply.Text, waiting)
	for i := f.Log.Len() - 1; i >= 0; i -= 1 + i/7 {
		fmt.Fprintln(&s, i, f.Log.At(i))
	}
	for _, p := range f.Waiting() {
		pod := f.Board.Get(world.Key(strings.TrimPrefix(string(p.Pod), "default/")))
		for n, m := 0, pod.Last; m != nil && n < 200; n, m = n+1, m.Prev() {
			fmt.Fprint(&s, m.Seq, " ", m.To, " ")
		}
		fmt.Fprintln(&s)
	}
	for i := max(0, f.Series.Len()-20); i < f.Series.Len(); i++ {
		fmt.Fprintf(&s, "%+v\n", *f.Series.At(i))
	}
	return s.String()
}

// TestArchivedHistory: archived history is shown, stepped through and searched as if it were in memory.
func TestArchivedHistory(t *testing.T) {
	kept, all, _ := inFile(t, 60_000)
	rec := kept.Frame()
	if size, of := kept.Size(), all.Size(); size > of/2 {
		t.Errorf("%d bytes are in memory, of %d", size, of)
	}
	conditions := []board.Condition{board.AnyAttempt()}
	for _, text := range []string{"p-7 enters backoff", "active > 20", "event NodeAdd", "attempts>1000000"} {
		c, err := board.ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		conditions = append(conditions, c)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 150 {
		var did string
		both := func(what string, do func(*session.Session)) {
			did = what
			do(kept)
			do(all)
		}
		switch n := rng.IntN(8); n {
		case 0, 1, 2:
			at := rec.Start.Add(time.Duration(rng.Int64N(int64(rec.End.Sub(rec.Start)))))
			both(fmt.Sprint("seek ", at), func(s *session.Session) { s.Seek(at) })
		case 3:
			n := rng.IntN(60) - 30
			both(fmt.Sprint("step ", n), func(s *session.Session) { s.Step(n) })
		case 4, 5, 6:
			c, forward := conditions[rng.IntN(len(conditions))], rng.IntN(2) == 0
			both(fmt.Sprint("find ", c, forward), func(s *session.Session) { s.Find(c, forward) })
		case 7:
			both("filter", func(s *session.Session) { s.SetFilter(world.Filter(t, []string{"", "p-1", "attempts>3"}[i%3])) })
		}
		if got, want := inWords(kept.Sync()), inWords(all.Sync()); got != want {
			t.Fatalf("after %d, %s, it shows\n%s\nwant\n%s", i, did, got, want)
		}
	}
}

// TestForkInArchivedHistory: a what-if in archived history first replays the recording up to there.
func TestForkInArchivedHistory(t *testing.T) {
	kept, all, _ := inFile(t, 60_000)
	at := kept.Frame().Start.Add(time.Minute)
	kept.Seek(at)
	kept.Fork()
	if f := kept.Sync(); f.Fork != nil || !strings.Contains(f.Reply.Text, "replaying the recording") || !f.Now.Equal(at) {
		t.Fatalf("it is at %s with the what-if %v, and says %q", f.Now, f.Fork, f.Reply.Text)
	}
	all.Seek(at)
	for _, s := range []*session.Session{kept, all} {
		s.Fork()
		s.Inject("NodeAdd")
	}
	got, want := kept.Sync(), all.Sync()
	if got.Fork == nil || want.Fork == nil {
		t.Fatalf("there is no what-if: %q", got.Reply.Text)
	}
	if a, b := inWords(got), inWords(want); a[:strings.Index(a, "\n")] != b[:strings.Index(b, "\n")] {
		t.Errorf("it begins with\n%s\nwant\n%s", a, b)
	}
}

// TestArchiveFails: a file error is reported and drops the archived history, which is replayed on demand.
func TestArchiveFails(t *testing.T) {
	full := errors.New("no space left on device")
	const moves = 60_000 // more in the file than in memory
	kept, all, file := inFile(t, moves)
	start := kept.Frame().Start
	file.read = full
	same := func(at time.Time) {
		t.Helper()
		kept.Seek(at)
		all.Seek(at)
		kept.Sync() // may start a replay
		got, want := kept.Sync(), all.Sync()
		a, _ := json.Marshal(got.Waiting())
		b, _ := json.Marshal(want.Waiting())
		if got.Now != want.Now || string(a) != string(b) {
			t.Errorf("at %s wait\n%s\nwant, at %s,\n%s", got.Now, a, want.Now, b)
		}
	}
	same(start.Add(20 * time.Second))
	if f := kept.Frame(); !f.Reply.Refused || !strings.Contains(f.Reply.Text, "read history: no space left") {
		t.Errorf("after a failed read got %q", f.Reply.Text)
	}

	kept, all, file = inFile(t, moves)
	kept.Seek(start.Add(30 * time.Second))
	file.written = full
	kept.Fork() // replays up to there
	kept.Sync()
	kept.SeekEnd()
	if f := kept.Sync(); !f.Reply.Refused || !strings.Contains(f.Reply.Text, "no space left") {
		t.Errorf("after a failed write got %q", f.Reply.Text)
	}
	same(start.Add(40 * time.Second))
}

// TestSlowDisk: while writes block, playback stops and keys are handled. Then it continues.
func TestSlowDisk(t *testing.T) {
	for _, way := range []struct {
		name string
		goes func(*session.Session)
	}{
		{"on the way to the end", (*session.Session).SeekEnd},
		{"playing", func(s *session.Session) { s.SetSpeed(session.MaxSpeed); s.Play() }},
	} {
		t.Run(way.name, func(t *testing.T) {
			const moves = 60_000
			rec := loggedMoves(moves)
			_, end := timeline.Span(rec)
			file := &failing{slow: make(chan chan struct{})}
			f, err := disk.Scratch(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			file.File = f
			s := session.New(long(rec), timeline.Options{Paused: true, Memory: 1, OpenArchive: func() (archive.File, error) { return file, nil }})
			go s.Run(t.Context())
			way.goes(s)
			held := <-file.slow
			for i := range 20 { // one of which would wait for the disk
				way.goes(s)
				speed := float64(100 + i)
				s.SetSpeed(speed)
				for late := time.After(10 * time.Second); s.Frame().Speed != speed; {
					select {
					case <-s.Frames():
					case <-late:
						t.Fatalf("key %d is not answered while the disk writes", i)
					}
				}
			}
			if f := s.Frame(); !f.Now.Before(end) {
				t.Errorf("it has played to the end, %s, with nothing written", f.Now)
			}
			go func() {
				for ; ; held = <-file.slow {
					close(held)
				}
			}()
			s.SeekEnd()
			if f := s.Sync(); !f.Now.Equal(end) || f.Known < moves {
				t.Errorf("it is at %s, and knows %d moves, want the end, %s, and %d", f.Now, f.Known, end, moves)
			}
		})
	}
}

// TestArchiveCannotBeCreated: without a file the history stays in memory, with a notice.
func TestArchiveCannotBeCreated(t *testing.T) {
	rec := loggedMoves(1000)
	s := session.New(long(rec), timeline.Options{Paused: true, OpenArchive: func() (archive.File, error) { return nil, errors.New("no home") }})
	go s.Run(t.Context())
	if f := s.Sync(); !strings.Contains(strings.Join(f.Notices, "\n"), "kept in memory only: no home") {
		t.Errorf("got %q", f.Notices)
	}
}
