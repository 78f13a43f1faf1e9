package command

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// mostOfASession is how much memory a session may take, with its client.
const mostOfASession = 4 << 20

// A few at once, in the lesson that takes most: what fifty take, BenchmarkRoom tells.
func TestARoomKeepsUp(t *testing.T) {
	f := figuresOf(t, crowd{shown: serveFlags{lesson: "16"}, first: "}", visitors: 6, keys: 10, hostile: 20})
	t.Log(f)
	if f.median > time.Second {
		t.Errorf("a key takes %s", f.median)
	}
	if f.memory > mostOfASession {
		t.Errorf("a session takes %.1f MB", float64(f.memory)/(1<<20))
	}
}

// BenchmarkRoom has fifty people press a key each half second, half of them by SSH and half by the page, and prints how long the
// screen takes and what a session takes of the memory. Their clients run in the same process and are part of both figures, and
// so are, in the last room, five hundred connections that want no good.
func BenchmarkRoom(b *testing.B) {
	for _, kind := range []struct {
		name  string
		shown serveFlags
		first string // what all press at first
	}{
		{"lesson", serveFlags{lesson: "1"}, ""},
		{"incident 16, played to its end", serveFlags{lesson: "16"}, "}"},
		{"incident 20, played to its end", serveFlags{lesson: "20"}, "}"},
		{"recording", serveFlags{recording: "lively-nopop"}, ""},
		{"what-if", serveFlags{recording: "lively-nopop"}, "ws"},
		{"lesson, beside 500 hostile connections", serveFlags{lesson: "1"}, ""},
	} {
		hostile := 0
		if strings.Contains(kind.name, "hostile") {
			hostile = 500
		}
		b.Run(kind.name, func(b *testing.B) {
			for b.Loop() {
				f := figuresOf(b, crowd{kind.shown, kind.first, 50, 40, hostile})
				b.ReportMetric(float64(f.median.Microseconds())/1000, "ms/median")
				b.ReportMetric(float64(f.late.Microseconds())/1000, "ms/p95")
				b.ReportMetric(float64(f.memory)/(1<<20), "MB/session")
			}
			b.ReportMetric(0, "ns/op") // says nothing: people are waited for
		})
	}
}

// figures of a room: from a key to the first of the frame at the median and at 95 of 100, and bytes of memory for
// each session.
type roomFigures struct {
	visitors, keys int
	median, late   time.Duration
	memory         int64
}

func (f roomFigures) String() string {
	return fmt.Sprintf("%d sessions, %d keys: %s from key to frame at the median, %s at 95 of 100; %.1f MB a session", f.visitors, f.keys,
		f.median.Round(100*time.Microsecond), f.late.Round(100*time.Microsecond), float64(f.memory)/(1<<20))
}

// crowd is who is in a room and before its doors.
type crowd struct {
	shown          serveFlags
	first          string // what all press at first
	visitors, keys int    // half of them by SSH, half by the page, and how many keys each presses then
	hostile        int    // connections that want no good
}

// figuresOf measures a room.
func figuresOf(t testing.TB, c crowd) roomFigures {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	address, page := openDoors(t, c.shown, io.Discard)
	visit(t, address, "first", false).screen(t) // has what all share made
	visitPage(t, page, "second", false).screen(t)
	before := memory()
	visitors, keys, first := c.visitors, c.keys, c.first
	all := make([]*visitor, visitors)
	for i := range all {
		if name := fmt.Sprint("visitor-", i); i%2 == 0 {
			all[i] = visit(t, address, name, false)
		} else {
			all[i] = visitPage(t, page, name, false)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var bad sync.WaitGroup
	defer bad.Wait()
	defer cancel()
	for i := range c.hostile {
		bad.Go(func() { besiege(ctx, i, address, page) })
	}
	took := make([][]time.Duration, visitors)
	var done sync.WaitGroup
	for i, v := range all {
		done.Go(func() {
			v.screen(t)
			v.press(first)
			pause := 500 * time.Millisecond
			beat := time.NewTicker(pause)
			defer beat.Stop()
			time.Sleep(pause * time.Duration(i) / time.Duration(visitors)) // not all in the same moment
			for k := range keys {
				<-beat.C
				select { // what came of itself, such as the timer
				case <-v.wrote:
				default:
				}
				began := time.Now()
				v.press([]string{"?", "\x03"}[k%2]) // the help opens, and closes
				select {
				case <-v.wrote:
					took[i] = append(took[i], time.Since(began))
				case <-time.After(30 * time.Second):
					t.Errorf("key %d of visitor %d comes to nothing", k, i)
					return
				}
			}
		})
	}
	done.Wait()
	each := slices.Concat(took...)
	slices.Sort(each)
	if len(each) == 0 {
		t.Fatal("nobody saw anything")
	}
	result := roomFigures{visitors: visitors, keys: len(each), median: each[len(each)/2], late: each[len(each)*95/100]}
	result.memory = (memory() - before) / int64(visitors)
	for _, v := range all {
		_ = v.client.Close()
	}
	return result
}

// besiege is one hostile connection, of the i-th kind, and another as soon as it is hung up on.
func besiege(ctx context.Context, i int, address, page string) {
	if i%2 == 0 {
		page = address
	}
	says := []string{"", "GET / HTTP/1.1\r\nHos", "GET /xterm.mjs HTTP/1.1\r\nHost: x\r\n\r\n", "SSH-2.0-x\r\n", strings.Repeat("\xff", 4<<10)}[i/2%5]
	for ctx.Err() == nil {
		if conn, err := net.Dial("tcp", page); err == nil {
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			_, _ = io.WriteString(conn, says) // it may be hung up on at once
			_, _ = io.Copy(io.Discard, conn)
			stop()
			_ = conn.Close()
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// memory is what the process holds after all that it can give back: heap and stacks.
func memory() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
