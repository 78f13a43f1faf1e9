package session_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/schedq/schedq/internal/leak"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/live"
	"github.com/schedq/schedq/sources/live/livetest"
	"github.com/schedq/schedq/sources/ring"
	"github.com/schedq/schedq/sources/trace"
)

// TestSessionFreesEverything: a session frees its goroutines and files when its context ends, whatever it was doing, and when
// it is closed before it ran.
func TestSessionFreesEverything(t *testing.T) {
	rec := modelled(t, "lively-nopop")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	folder := t.TempDir()
	opts := timeline.Options{Paused: true, Memory: 1, OpenArchive: func() (archive.File, error) { return disk.Scratch(t.Context(), folder) }}
	run := func(s *session.Session, use func()) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Run(ctx)
		}()
		use()
		stop()
		<-done
	}
	for name, round := range map[string]func(){
		"closed before it ran": func() { session.New(long(rec), opts).Close() },
		"ended before it ran":  func() { session.New(long(rec), opts).Run(ended) },
		"closed with commands": func() {
			s := session.New(rec, opts)
			s.Fork()
			s.ToggleScheduler()
			s.Close()
			if f := s.Sync(); f == nil {
				t.Error("no frame")
			}
		},
		"live, closed before it ran": func() { session.NewLive(newScript(), opts).Close() },
		"ended in a search": func() {
			s := session.New(long(rec), opts)
			run(s, s.SeekEnd)
		},
		"ended in a what-if": func() {
			s := session.New(world.WithVictim("1"), opts)
			run(s, func() {
				s.SeekEnd()
				s.Fork()
				s.ToggleScheduler()
				s.Inject(session.MoveRequest)
				s.Step(-1)
				s.Preview(session.Injectables()...)
				s.Branch()
				s.Undo()
				s.LeaveFork()
				s.Preview(session.Injectables()...)
				s.Sync()
			})
		},
		"ended while read": func() {
			s := session.New(begun(rec, 0.2), opts)
			run(s, func() {})
			s.Complete(ended, long(rec))
		},
		"read to the end": func() {
			s := session.New(begun(rec, 0.2), opts)
			run(s, func() {
				s.Complete(t.Context(), long(rec))
				s.Sync()
			})
		},
	} {
		t.Run(name, func(t *testing.T) { leak.Check(t, 10, func(int) { round() }) })
	}
}

// TestCommandsFreeEverything: reruns and the commands without a screen free their goroutines and files, whether they succeed
// or not.
func TestCommandsFreeEverything(t *testing.T) {
	rec, err := embedded.Open(t.Context(), "workshop")
	if err != nil {
		t.Fatal(err)
	}
	var c world.Cluster
	world.Change(&c, 1, sources.Added, world.Node("node-a", "1"), nil)
	world.Change(&c, 2, sources.Added, world.PendingPod("web", "2"), nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, end := timeline.Span(rec)
	for name, run := range map[string]func(ctx context.Context) error{
		"a rerun": func(ctx context.Context) error {
			s := session.New(rec, timeline.Options{Paused: true})
			defer s.Close()
			_, open, err := s.Rerun(ctx, "v1.24", nil)
			if err == nil {
				open().Close()
			}
			return err
		},
		"a list": func(ctx context.Context) error {
			_, err := session.ListPods(ctx, long(rec), timeline.Options{}, end)
			return err
		},
		"an explanation": func(ctx context.Context) error {
			_, err := session.ExplainPod(ctx, c.Recording(10), timeline.Options{}, world.Key("web"), world.At(10))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t, 10, func(n int) {
				if err := run(t.Context()); err != nil {
					t.Error(err)
				}
				if err := run(ended); !errors.Is(err, context.Canceled) {
					t.Errorf("with a context that has ended: %v", err)
				}
			})
		})
	}
}

// TestLiveFreesEverything: a live session, watch and recorders free their goroutines and files when they end, whether the
// cluster answers or not.
func TestLiveFreesEverything(t *testing.T) {
	server, failing := livetest.New(t), livetest.New(t)
	server.Put(ready("n-1", "4"), waits("web", "6"))
	failing.RefuseLists(503)
	connect := func(cluster *livetest.Server) sources.Stream {
		source, err := live.New(&rest.Config{Host: cluster.URL}, live.Options{Name: "test"})
		if err != nil {
			t.Fatal(err)
		}
		return source
	}
	folder, files := t.TempDir(), 0
	path := func() string {
		files++
		return filepath.Join(folder, fmt.Sprint("recording-", files, ".jsonl"))
	}
	opts := timeline.Options{OpenArchive: func() (archive.File, error) { return disk.Scratch(t.Context(), folder) }}
	attach := func(stream sources.Stream, enough func(*session.Frame) bool) {
		s := session.NewLive(stream, opts)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.Run(ctx)
		for f := range s.Frames() {
			if enough(f) {
				cancel()
			}
		}
	}
	sees := func(f *session.Frame) bool { return f.Board.Get(world.Key("web")) != nil }
	record := func() *trace.Recorder {
		r, err := trace.Record(t.Context(), connect(server), path(), 1<<20, disk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, round := range map[string]func(){
		"attach":                      func() { attach(connect(server), sees) },
		"attach to a failing cluster": func() { attach(connect(failing), func(*session.Frame) bool { return len(failing.Requests()) > 0 }) },
		"attach, closed":              func() { session.NewLive(connect(server), opts).Close() },
		"attach and record": func() {
			r := record()
			attach(r, sees)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		},
		"watch": func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := timeline.Follow(ctx, connect(server), opts, timeline.Handlers{Move: func(*board.Transition) error {
				cancel()
				return nil
			}})
			if err != nil {
				t.Error(err)
			}
		},
		"record to a ring": func() {
			out, err := ring.Create(t.Context(), path(), ring.Bound{Age: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			r := ring.Record(connect(server), out)
			err = timeline.Drain(t.Context(), r, timeline.DrainOptions{Duration: time.Millisecond})
			if err := errors.Join(err, r.Close()); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { leak.Check(t, 12, func(int) { round() }) })
	}
}
