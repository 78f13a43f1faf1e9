package cli

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
	progressDelay    = time.Second // before the first line
	progressInterval = 250 * time.Millisecond
	// maxName limits a file's name, in characters: the line must not wrap.
	maxName   = 30
	eraseLine = "\r\x1b[K"
)

// ProgressLine shows the progress of a command that prints nothing for a while, in one line that is
// erased at the end: "reading big.log.gz: 43 %, 12 s left".
type ProgressLine struct {
	what  string
	share atomic.Uint64 // the bits of a float64
	stop  func()
}

// StartProgress shows the progress of doing ("reading") something with that name on w, the command's
// standard error, if that is a terminal. The caller calls Stop.
func StartProgress(w io.Writer, doing, name string) *ProgressLine {
	l := newProgressLine(doing, name)
	if s, ok := w.(SanitizingWriter); ok {
		w = s.Writer
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return l
	}
	ticks := time.NewTicker(progressInterval)
	done := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() { l.write(f, time.Now(), ticks.C, done) })
	l.stop = func() {
		ticks.Stop()
		close(done)
		writing.Wait()
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

// Report sets the share that is done, from 0 to 1. It is safe for concurrent use.
func (l *ProgressLine) Report(share float64) { l.share.Store(math.Float64bits(share)) }

// Stop erases the line. It may be called more than once.
func (l *ProgressLine) Stop() {
	l.stop()
	l.stop = func() {}
}

// write writes the line at each tick until done is closed.
func (l *ProgressLine) write(w io.Writer, began time.Time, ticks <-chan time.Time, done <-chan struct{}) {
	shown := false
	for {
		select {
		case now := <-ticks:
			if now.Sub(began) >= progressDelay {
				shown = true
				fmt.Fprint(w, eraseLine+l.text(now.Sub(began)))
			}
		case <-done:
			if shown {
				fmt.Fprint(w, eraseLine)
			}
			return
		}
	}
}

// text returns the line after that time.
func (l *ProgressLine) text(elapsed time.Duration) string {
	share := math.Float64frombits(l.share.Load())
	if !(share > 0) {
		return "schedq: " + l.what
	}
	text := fmt.Sprintf("schedq: %s: %d %%", l.what, int(100*min(share, 1)))
	if left := format.Remaining(share, elapsed); left >= time.Second {
		text += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return text
}
