package cli

// Package waiting tells a person at a terminal how far a command is that says nothing for a while: a long log is read,
// or played from its beginning to its end. It is one line, which is gone before anything else is said.
//
// It imports cmd/schedq/plain, tui/format and sources.

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/format"
)

const (
	patience = time.Second // for so long nothing is said
	every    = 250 * time.Millisecond
	// maxName is how many letters of a file's name are told: the line must fit.
	maxName = 30
	erase   = "\r\x1b[K"
)

// Line says what is under way: "reading big.log.gz: 43 %, 12 s left".
type ProgressLine struct {
	what  string
	share atomic.Uint64 // the bits of a float64
	stop  func()
}

// Begin begins to tell of what, "reading" of a name, on w, which is standard error as the command has it. Nothing is
// told if that is no terminal. End must be called.
func BeginProgress(w io.Writer, doing, name string) *ProgressLine {
	l := newProgressLine(doing, name)
	if p, ok := w.(PlainWriter); ok {
		w = p.Writer
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return l
	}
	ticks := time.NewTicker(every)
	done := make(chan struct{})
	var told sync.WaitGroup
	told.Go(func() { l.tell(f, time.Now(), ticks.C, done) })
	l.stop = func() {
		ticks.Stop()
		close(done)
		told.Wait()
	}
	return l
}

func newProgressLine(doing, name string) *ProgressLine {
	short := []rune(string(sources.Sanitize(name)))
	if len(short) > maxName {
		short = append(short[:maxName-1], '…')
	}
	return &ProgressLine{what: doing + " " + string(short), stop: func() {}}
}

// Report takes which share of it is done, from 0 to 1. It is safe for concurrent use.
func (l *ProgressLine) Report(share float64) { l.share.Store(math.Float64bits(share)) }

// End takes the line away.
func (l *ProgressLine) End() {
	l.stop()
	l.stop = func() {}
}

// tell writes the line at each tick until done is closed.
func (l *ProgressLine) tell(w io.Writer, began time.Time, ticks <-chan time.Time, done <-chan struct{}) {
	shown := false
	for {
		select {
		case now := <-ticks:
			if now.Sub(began) >= patience {
				shown = true
				fmt.Fprint(w, erase+l.text(now.Sub(began)))
			}
		case <-done:
			if shown {
				fmt.Fprint(w, erase)
			}
			return
		}
	}
}

// text is what is said after so long.
func (l *ProgressLine) text(since time.Duration) string {
	share := math.Float64frombits(l.share.Load())
	if !(share > 0) {
		return "schedq: " + l.what
	}
	text := fmt.Sprintf("schedq: %s: %d %%", l.what, int(100*min(share, 1)))
	if left := format.Remaining(share, since); left >= time.Second {
		text += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return text
}
