//go:build linux

package hostile

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

var (
	longLog = flag.String("long", "", "a long audit log at which BenchmarkKey presses keys while it is read")
	presses = flag.Int("keys", 500, "how many keys BenchmarkKey presses at least")
)

// person sits at a seat, and sees the screen.
type person struct {
	*seat
	screen *vt.Emulator
	seen   int                        // how many bytes of what the program wrote are on the screen
	typed  []string                   // the keys that were looked for
	took   map[string][]time.Duration // by kinds of keys
}

// row is a row of the screen.
func (p *person) row(y int) string {
	var s strings.Builder
	for x := range p.screen.Width() {
		if c := p.screen.CellAt(x, y); c != nil {
			s.WriteString(c.Content)
		}
	}
	return s.String()
}

// rows is the screen from one row to another.
func (p *person) rows(from, to int) string {
	var s strings.Builder
	for y := from; y < to; y++ {
		s.WriteString(p.row(y) + "\n")
	}
	return s.String()
}

// sees waits until the screen is as is says, and reports how long that took.
func (p *person) sees(is func() bool) time.Duration {
	p.Helper()
	began := time.Now()
	late := time.AfterFunc(patience, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over = true
		p.changed.Broadcast()
	})
	defer late.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if all := p.written.Bytes(); len(all) > p.seen {
			if _, err := p.screen.Write(all[p.seen:]); err != nil {
				p.Fatal(err)
			}
			p.seen = len(all)
		}
		if is() {
			return time.Since(began)
		}
		if p.over {
			p.Fatalf("it did not come after %q; there is\n%s", p.typed, p.rows(0, p.screen.Height()))
		}
		p.changed.Wait()
	}
}

// reads reports whether the log is still being read.
func (p *person) reads() bool { return strings.Contains(p.row(0), "reading ") }

// key presses keys, and notes how long it takes until the screen is as is says, if the log is still being read.
func (p *person) key(kind, keys string, is func() bool) {
	p.Helper()
	p.sees(func() bool { return true }) // what came since is on the screen
	reads := p.reads()
	before := p.rows(0, 3)
	p.typed = append(p.typed, keys)
	p.types(keys)
	if took := p.sees(is); reads {
		p.took[kind] = append(p.took[kind], took)
		if took > time.Second {
			p.Logf("%q took %v, from\n%sto\n%s", keys, took, before, p.rows(0, 3))
		}
	}
	time.Sleep(30 * time.Millisecond) // as a quick person does
}

// clock is the moment shown.
var clock = regexp.MustCompile(`\d\d:\d\d:\d\d\.\d{3}`)

// now is the moment shown.
func (p *person) now() time.Time {
	at, err := time.Parse("15:04:05.000", clock.FindString(p.row(1)))
	if err != nil {
		p.Fatalf("no time in %q", p.row(1))
	}
	return at
}

// moves is how many moves come before the moment shown, in the screen's words.
func (p *person) moves() string { return p.row(1)[strings.LastIndex(p.row(1), " move ")+1:] }

// round presses a key of each kind while the recording, which is paused, is played, or gone through to where it is read to.
func (p *person) round(rng *rand.Rand) {
	plays := rng.IntN(2) == 0
	if plays {
		p.types(" ")
	} else {
		p.types("}")
	}
	time.Sleep(300 * time.Millisecond)
	p.key("pane", "2", func() bool { return strings.Contains(p.row(3)+p.row(4), "━ 2 backoffQ") })
	p.key("pane", "1", func() bool { return strings.Contains(p.row(3)+p.row(4), "━ 1 activeQ") })
	p.key("pane", "3", func() bool { return strings.Contains(p.row(3)+p.row(4), "━ 3 unschedulable") })
	p.key("detail", "+", func() bool { return !strings.Contains(p.rows(3, 6), " 1 activeQ") })
	p.key("detail", "+", func() bool { return strings.Contains(p.rows(3, 6), " 1 activeQ") })
	digit := fmt.Sprint(rng.IntN(10)) // the board is filtered while one types
	filtered := func() bool { return strings.Contains(p.row(0), "/ "+digit) }
	p.types("/")
	time.Sleep(50 * time.Millisecond)
	p.key("filter", digit, filtered)
	p.types("\r/")
	time.Sleep(50 * time.Millisecond)
	p.key("filter", "\x7f", func() bool { return !filtered() })
	p.types("\r")
	time.Sleep(50 * time.Millisecond)
	if plays {
		p.types(" ") // or it is played again to where it was before a frame shows where it went
		time.Sleep(50 * time.Millisecond)
	}
	p.types("t" + fmt.Sprintf("-%ds", 5+rng.IntN(60)))
	time.Sleep(50 * time.Millisecond)
	p.sees(func() bool { return true })
	before := p.now()
	p.key("seek", "\r", func() bool { return p.now().Before(before) })
	p.sees(func() bool { return true })
	moves := p.moves()
	p.key("step", ">", func() bool { return p.moves() != moves })
}

// BenchmarkKey presses keys of several kinds at a terminal while a long audit log is read and played, and says how long it took from each
// to the screen that shows what it did.
func BenchmarkKey(b *testing.B) {
	if *longLog == "" {
		b.Skip("-long names no log to press keys at")
	}
	path, rng, took := program(b), rand.New(rand.NewPCG(1, 2)), map[string][]time.Duration{}
	var all []time.Duration
	for b.Loop() {
		for all = nil; len(all) < *presses; {
			p := &person{seat: sit(b, path, "replay", *longLog, "--speed", "1000"), screen: vt.NewEmulator(140, 40), took: took}
			go func() { // what a terminal answers
				_, _ = io.Copy(p.terminal, p.screen)
			}()
			p.sees(p.reads)
			p.types(" ")
			for p.sees(func() bool { return strings.Contains(p.row(1), "‖ paused") }); p.reads(); {
				p.round(rng)
			}
			p.program.Process.Kill()
			all = slices.Concat(slices.Collect(maps.Values(took))...)
		}
	}
	took["all"] = all
	for kind, took := range took {
		slices.Sort(took)
		b.Logf("%s: %d keys, median %v, 99th percentile %v, longest %v", kind, len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
	}
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "ms-99th")
	b.ReportMetric(0, "ns/op")
}
