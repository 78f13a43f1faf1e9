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
	longLog = flag.String("long", "", "a long audit log for BenchmarkKey to read while it presses keys")
	presses = flag.Int("keys", 500, "minimum number of keys that BenchmarkKey presses")
)

// user presses keys at a console and reads its screen.
type user struct {
	*console
	screen *vt.Emulator
	seen   int                        // bytes of the console's output that are on the screen
	typed  []string                   // for error messages
	took   map[string][]time.Duration // by kind of key
}

// row returns a row of the screen.
func (u *user) row(y int) string {
	var s strings.Builder
	for x := range u.screen.Width() {
		if c := u.screen.CellAt(x, y); c != nil {
			s.WriteString(c.Content)
		}
	}
	return s.String()
}

// rows returns the rows of the screen from one to another.
func (u *user) rows(from, to int) string {
	var s strings.Builder
	for y := from; y < to; y++ {
		s.WriteString(u.row(y) + "\n")
	}
	return s.String()
}

// waitUntil waits until a condition of the screen holds and returns how long that took.
func (u *user) waitUntil(holds func() bool) time.Duration {
	u.Helper()
	began := time.Now()
	late := time.AfterFunc(timeout, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.over = true
		u.changed.Broadcast()
	})
	defer late.Stop()
	u.mu.Lock()
	defer u.mu.Unlock()
	for {
		if all := u.written.Bytes(); len(all) > u.seen {
			if _, err := u.screen.Write(all[u.seen:]); err != nil {
				u.Fatal(err)
			}
			u.seen = len(all)
		}
		if holds() {
			return time.Since(began)
		}
		if u.over {
			u.Fatalf("timeout after %q at\n%s", u.typed, u.rows(0, u.screen.Height()))
		}
		u.changed.Wait()
	}
}

// update draws the output so far.
func (u *user) update() { u.waitUntil(func() bool { return true }) }

// isReading reports whether the log is still being read.
func (u *user) isReading() bool { return strings.Contains(u.row(0), "reading ") }

// prepare presses keys and waits until a condition holds, without measuring it.
func (u *user) prepare(keys string, holds func() bool) {
	u.Helper()
	u.typed = append(u.typed, keys)
	u.typeKeys(keys)
	u.waitUntil(holds)
}

// measure presses keys and records how long it takes until a condition holds, while the log is
// being read.
func (u *user) measure(kind, keys string, holds func() bool) {
	u.Helper()
	u.update()
	reading := u.isReading()
	before := u.rows(0, 3)
	u.typed = append(u.typed, keys)
	u.typeKeys(keys)
	if took := u.waitUntil(holds); reading {
		u.took[kind] = append(u.took[kind], took)
		if took > time.Second {
			u.Logf("%q took %v, from\n%sto\n%s", keys, took, before, u.rows(0, 3))
		}
	}
	time.Sleep(30 * time.Millisecond) // the pace of a quick user
}

// clock matches the displayed time.
var clock = regexp.MustCompile(`\d\d:\d\d:\d\d\.\d{3}`)

// now returns the displayed time.
func (u *user) now() time.Time {
	at, err := time.Parse("15:04:05.000", clock.FindString(u.row(1)))
	if err != nil {
		u.Fatalf("no time in %q", u.row(1))
	}
	return at
}

// moves returns the displayed number of moves.
func (u *user) moves() string { return u.row(1)[strings.LastIndex(u.row(1), " move ")+1:] }

// lastRows returns the rows of the key hints and of prompts.
func (u *user) lastRows() string { return u.rows(u.screen.Height()-2, u.screen.Height()) }

// isPrompting reports whether a prompt is open.
func (u *user) isPrompting() bool { return !strings.Contains(u.lastRows(), "? help") }

// isPaused reports whether playback is paused.
func (u *user) isPaused() bool { return strings.Contains(u.row(1), "‖ paused") }

// round presses a key of each kind. The recording is paused at the start of a round; the round
// plays it or moves to the last event read.
func (u *user) round(rng *rand.Rand) {
	plays := rng.IntN(2) == 0
	if plays {
		u.prepare(" ", func() bool { return !u.isPaused() })
	} else {
		start := u.now()
		u.prepare("}", func() bool { return u.now().After(start) || !u.isReading() })
	}
	u.measure("pane", "2", func() bool { return strings.Contains(u.row(3)+u.row(4), "━ 2 backoffQ") })
	u.measure("pane", "1", func() bool { return strings.Contains(u.row(3)+u.row(4), "━ 1 activeQ") })
	u.measure("pane", "3", func() bool { return strings.Contains(u.row(3)+u.row(4), "━ 3 unschedulable") })
	u.measure("detail", "+", func() bool { return !strings.Contains(u.rows(3, 6), " 1 activeQ") })
	u.measure("detail", "+", func() bool { return strings.Contains(u.rows(3, 6), " 1 activeQ") })
	digit := fmt.Sprint(rng.IntN(10)) // the board is filtered while typing
	filtered := func() bool { return strings.Contains(u.row(0), "/ "+digit) }
	u.prepare("/", u.isPrompting)
	u.measure("filter", digit, filtered)
	u.prepare("\r", func() bool { return !u.isPrompting() })
	u.prepare("/", u.isPrompting)
	u.measure("filter", "\x7f", func() bool { return !filtered() })
	u.prepare("\r", func() bool { return !u.isPrompting() })
	if plays {
		u.prepare(" ", u.isPaused)
	}
	offset := fmt.Sprintf("-%ds", 5+rng.IntN(60))
	u.prepare("t"+offset, func() bool { return strings.Contains(u.lastRows(), offset) })
	before := u.now()
	u.measure("seek", "\r", func() bool { return u.now().Before(before) })
	u.update()
	moves := u.moves()
	u.measure("step", ">", func() bool { return u.moves() != moves })
}

// BenchmarkKey measures the latency of several kinds of keys, from the key to the screen that shows
// its effect, while a long audit log is read and played.
func BenchmarkKey(b *testing.B) {
	if *longLog == "" {
		b.Skip("-long is not set")
	}
	path, rng, took := program(b), rand.New(rand.NewPCG(1, 2)), map[string][]time.Duration{}
	var all []time.Duration
	for b.Loop() {
		for all = nil; len(all) < *presses; {
			u := &user{console: start(b, path, "replay", *longLog, "--speed", "1000"), screen: vt.NewEmulator(140, 40), took: took}
			go func() { // the terminal's answers to queries
				_, _ = io.Copy(u.terminal, u.screen)
			}()
			u.waitUntil(func() bool { return u.isReading() && strings.Contains(u.row(1), "playing") }) // the board, not the screen before it
			for u.prepare(" ", u.isPaused); u.isReading(); {
				u.round(rng)
			}
			u.program.Process.Kill()
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
