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

// maxSessionMemory limits the memory of a session with its client, in bytes.
const maxSessionMemory = 4 << 20

// TestRoomLoad has a few visitors in the most expensive lesson. BenchmarkRoom measures fifty.
func TestRoomLoad(t *testing.T) {
	f := measureRoom(t, load{shown: serveFlags{lesson: "16"}, firstKeys: "ge", visitors: 6, keys: 10, hostile: 20})
	t.Log(f)
	if f.median > time.Second {
		t.Errorf("a key takes %s", f.median)
	}
	if f.memory > maxSessionMemory {
		t.Errorf("a session takes %.1f MB", float64(f.memory)/(1<<20))
	}
}

// BenchmarkRoom measures the latency and the memory of fifty visitors who press a key every half
// second, half of them over SSH and half in browsers. Both include the clients, which run in the
// same process, and in the last room 500 hostile connections.
func BenchmarkRoom(b *testing.B) {
	for _, kind := range []struct {
		name      string
		shown     serveFlags
		firstKeys string
	}{
		{"lesson", serveFlags{lesson: "1"}, ""},
		{"incident 16, at its end", serveFlags{lesson: "16"}, "ge"},
		{"incident 20, at its end", serveFlags{lesson: "20"}, "ge"},
		{"recording", serveFlags{recording: "lively-nopop"}, ""},
		{"what-if", serveFlags{recording: "lively-nopop"}, "ws"},
		{"lesson with 500 hostile connections", serveFlags{lesson: "1"}, ""},
	} {
		hostile := 0
		if strings.Contains(kind.name, "hostile") {
			hostile = 500
		}
		b.Run(kind.name, func(b *testing.B) {
			for b.Loop() {
				f := measureRoom(b, load{kind.shown, kind.firstKeys, 50, 40, hostile})
				b.ReportMetric(float64(f.median.Microseconds())/1000, "ms/median")
				b.ReportMetric(float64(f.p95.Microseconds())/1000, "ms/p95")
				b.ReportMetric(float64(f.memory)/(1<<20), "MB/session")
			}
			b.ReportMetric(0, "ns/op") // meaningless: it includes the pauses between keys
		})
	}
}

// roomFigures are the latencies from a key to the frame, and the memory of a session in bytes.
type roomFigures struct {
	visitors, keys int
	median, p95    time.Duration
	memory         int64
}

func (f roomFigures) String() string {
	return fmt.Sprintf("%d sessions, %d keys: median %s from key to frame, p95 %s; %.1f MB a session", f.visitors, f.keys,
		f.median.Round(100*time.Microsecond), f.p95.Round(100*time.Microsecond), float64(f.memory)/(1<<20))
}

// load is the load of a room.
type load struct {
	shown          serveFlags
	firstKeys      string // that each visitor presses first
	visitors, keys int    // keys is how many each presses then
	hostile        int    // connections
}

// measureRoom measures a room under load.
func measureRoom(t testing.TB, c load) roomFigures {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	address, page := openRoom(t, c.shown, io.Discard)
	visit(t, address, "first", false).waitForOutput(t) // creates what sessions share
	visitPage(t, page, "second", false).waitForOutput(t)
	before := memory()
	visitors, keys := c.visitors, c.keys
	all := make([]*visitor, visitors)
	for i := range all {
		if name := fmt.Sprint("visitor-", i); i%2 == 0 {
			all[i] = visit(t, address, name, false)
		} else {
			all[i] = visitPage(t, page, name, false)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var attackers sync.WaitGroup
	defer attackers.Wait()
	defer cancel()
	for i := range c.hostile {
		attackers.Go(func() { attack(ctx, i, address, page) })
	}
	took := make([][]time.Duration, visitors)
	var done sync.WaitGroup
	for i, v := range all {
		done.Go(func() {
			v.waitForOutput(t)
			v.press(c.firstKeys)
			pause := 500 * time.Millisecond
			beat := time.NewTicker(pause)
			defer beat.Stop()
			time.Sleep(pause * time.Duration(i) / time.Duration(visitors)) // spread the keys
			for k := range keys {
				<-beat.C
				select { // drop output of timers
				case <-v.wrote:
				default:
				}
				began := time.Now()
				v.press([]string{"?", "\x03"}[k%2]) // open and close the help
				select {
				case <-v.wrote:
					took[i] = append(took[i], time.Since(began))
				case <-time.After(30 * time.Second):
					t.Errorf("no output after key %d of visitor %d", k, i)
					return
				}
			}
		})
	}
	done.Wait()
	each := slices.Concat(took...)
	slices.Sort(each)
	if len(each) == 0 {
		t.Fatal("no output")
	}
	result := roomFigures{visitors: visitors, keys: len(each), median: each[len(each)/2], p95: each[len(each)*95/100]}
	result.memory = (memory() - before) / int64(visitors)
	for _, v := range all {
		_ = v.client.Close()
	}
	return result
}

// attack opens hostile connections of the i-th kind, one after the other.
func attack(ctx context.Context, i int, address, page string) {
	if i%2 == 0 {
		page = address
	}
	payload := []string{"", "GET / HTTP/1.1\r\nHos", "GET /xterm.mjs HTTP/1.1\r\nHost: x\r\n\r\n", "SSH-2.0-x\r\n", strings.Repeat("\xff", 4<<10)}[i/2%5]
	for ctx.Err() == nil {
		if conn, err := net.Dial("tcp", page); err == nil {
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			_, _ = io.WriteString(conn, payload) // fails if the room hangs up at once
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

// memory returns the heap and stacks in use after a collection.
func memory() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
