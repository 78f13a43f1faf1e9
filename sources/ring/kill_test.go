package ring_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/ring"
)

var kills = flag.Int("kills", 3, "how often TestKilledProcess kills a recorder")

// ringOfChild is set to a ring's folder in the process that records and is killed.
const ringOfChild = "SCHEDQ_TEST_RING"

// TestMain records, in the process that TestKilledProcess kills.
func TestMain(m *testing.M) {
	if folder := os.Getenv(ringOfChild); folder != "" {
		recordUntilKilled(folder)
	}
	os.Exit(m.Run())
}

// busy is a stream of about a thousand marks a second.
type busy struct {
	world *world
	begin time.Time
}

func (*busy) Name() sources.SafeText        { return "busy" }
func (*busy) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (b *busy) Take() (events []sources.Event, _ sources.Status) {
	if b.begin.IsZero() {
		b.begin, b.world.now = time.Now(), time.Now()
		return b.world.attach(), sources.Status{}
	}
	for b.world.now.Add(time.Millisecond).Before(time.Now()) {
		b.world.now = b.world.now.Add(time.Millisecond)
		events = append(events, b.world.put(fmt.Sprint("pod-", b.world.version%100), nil), b.world.mark())
	}
	return events, sources.Status{}
}

// recordUntilKilled records a busy stream, and prints the number of written marks every 10 ms.
func recordUntilKilled(folder string) {
	out, err := ring.Create(context.Background(), folder, ring.Bound{Bytes: 1 << 20})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	r := ring.Record(&busy{world: newWorld()}, out)
	go r.Run(context.Background())
	for {
		r.Take()
		fmt.Println(r.Written() / 2)
		time.Sleep(10 * time.Millisecond)
	}
}

// TestKilledProcess: after SIGKILL at any time, what the recorder wrote is in the ring, and the next recorder continues it. It
// logs how much time is missing at most.
func TestKilledProcess(t *testing.T) {
	folder := t.TempDir()
	var most time.Duration
	for n := range *kills {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), ringOfChild+"="+folder)
		stdout, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		kill := sync.OnceValue(child.Process.Kill)
		defer kill()
		written, killed := 0, time.Time{}
		lines, last := bufio.NewScanner(stdout), 50+rand.IntN(100)
		for i := 0; lines.Scan(); i++ {
			if _, err := fmt.Sscan(lines.Text(), &written); err != nil {
				t.Fatal(lines.Text())
			}
			if i == last {
				if err := kill(); err != nil {
					t.Fatal(err)
				}
				killed = time.Now()
			}
		}
		if err := child.Wait(); err == nil {
			t.Fatal("the recorder ended by itself")
		}
		got := read(t, folder, ring.ReadOptions{})
		if len(got.notices) > 1 { // about the time between the runs
			t.Errorf("kill %d: %q", n, got.notices)
		}
		first := len(got.marks) - 1
		for first > 0 && got.marks[first-1] == got.marks[first]-1 {
			first--
		}
		if end := got.marks[len(got.marks)-1]; written == 0 || end < written || got.marks[first] > written {
			t.Fatalf("kill %d: marks %d to %d of the last run are in the ring, want %d", n, got.marks[first], end, written)
		}
		missing := killed.Sub(got.events[len(got.events)-1].Time)
		if most = max(most, missing); *kills >= 50 && missing > time.Second {
			t.Errorf("kill %d: the last %v are missing", n, missing)
		}
	}
	t.Logf("killed %d times: at most the last %v were missing", *kills, most.Round(time.Millisecond))
}
