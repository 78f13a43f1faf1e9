package session

import (
	"strings"
	"testing"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
)

// TestTravel: seeking to the end of a large recording works in slices. Pausing stops on the way, and
// continuing gives the same result as waiting.
func TestTravel(t *testing.T) {
	want := crowded(50_000)
	o := newOwner(want.rec, timeline.Options{Paused: true})
	end := o.recording.End
	o.travel(end)
	if !o.working() || !o.now.Before(end) {
		t.Fatalf("it is at %s at once, of %s", words.Zone{}.Clock(o.now), words.Zone{}.Clock(end))
	}
	before := o.now
	o.work()
	if !o.now.After(before) {
		t.Error("it gets no further")
	}
	if got := string(o.frame().Searching); !strings.HasPrefix(got, words.Zone{}.Clock(end)+" at ") {
		t.Errorf("the frame says %q", got)
	}
	o.pause()
	if o.working() || !o.now.Equal(o.recording.Executed) || o.recording.Cursor != o.recording.ChangeCount() {
		t.Error("when stopped, it does not show where it is")
	}
	o.travel(end)
	for o.working() {
		o.work()
	}
	if !o.now.Equal(end) || o.recording.MoveCount() != want.recording.MoveCount() || o.frame().Searching != "" {
		t.Errorf("it arrives at %s after %d moves, want %s and %d", words.Zone{}.Clock(o.now), o.recording.MoveCount(), words.Zone{}.Clock(end), want.recording.MoveCount())
	}
}

// TestTravelYieldsToCommands: during a long seek or search, a command does not wait for the end of a slice.
func TestTravelYieldsToCommands(t *testing.T) {
	rec := crowded(50_000).rec
	moves := func(begin func(o *owner)) int {
		o := newOwner(rec, timeline.Options{Paused: true})
		o.commandWaiting = func() bool { return true }
		begin(o)
		before := o.recording.MoveCount()
		o.work()
		if !o.working() {
			t.Fatal("nothing is left to do")
		}
		return o.recording.MoveCount() - before
	}
	if n := moves(func(o *owner) { o.travel(o.recording.End) }); n > 16 {
		t.Errorf("a long seek made %d moves before it yielded", n)
	}
	never := board.Condition{Text: "never", Matches: func(*board.Transition) bool { return false }}
	if n := moves(func(o *owner) { o.find(never, true) }); n > 64 {
		t.Errorf("a search made %d moves before it yielded", n)
	}
}

// TestPlayingTooFast: playback slows down if the model is too slow, and skips nothing.
func TestPlayingTooFast(t *testing.T) {
	want := crowded(50_000)
	o := newOwner(want.rec, timeline.Options{Speed: MaxSpeed})
	ticks := 0
	for ; o.playing; ticks++ {
		o.advance(FrameInterval)
	}
	if ticks < 2 || o.recording.MoveCount() != want.recording.MoveCount() {
		t.Errorf("%d moves after %d ticks, want %d after several", o.recording.MoveCount(), ticks, want.recording.MoveCount())
	}
}
