package history

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/sources/disk"
)

// crowd returns a history of so many pods, and a function that moves one of them.
func crowd(pods int) (h *History, move func()) {
	h = New()
	now, rng := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC), rand.New(rand.NewPCG(1, 2))
	names := make([]board.Pod, pods)
	for i := range names {
		p := &names[i]
		p.Key.Namespace, p.Key.Name = "default", fmt.Sprintf("crowd-%05d", i)
		p.PodInfo.Pod = &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: p.Key.Name, UID: "0b5f3fd6-3e70-4f3f-8a55-1f2c1a5a7d11", Labels: map[string]string{"app": "crowd"}}}
		p.Tier, p.Arrived, p.Since = queue.Unschedulable, now, now
		p.UnschedulablePlugins = []string{"NodeResourcesFit"}
	}
	return h, func() {
		now = now.Add(time.Millisecond)
		p := names[rng.IntN(pods)]
		before := h.Head().Get(p.Key)
		m := &board.Transition{Seq: h.MoveCount()}
		m.Time, m.From, m.To, m.Event = now, queue.Unschedulable, queue.Unschedulable, "NodeAdd"
		if before != nil {
			m.SetPrev(before.Last)
		}
		p.Since, p.Last, m.Pod = now, m, &p
		h.Append(board.Change{At: now, Before: before, After: &p, Move: m})
	}
}

// BenchmarkStore moves the oldest changes of a history to a file, and reports how long that blocks
// playback at most, and how long the write takes.
func BenchmarkStore(b *testing.B) {
	for _, pods := range []int{500, 5_000, 20_000, 50_000} {
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) {
			h, move := crowd(pods)
			if err := h.OpenArchive(func() (archive.File, error) { return disk.Scratch(b.Context(), b.TempDir()) }); err != nil {
				b.Fatal(err)
			}
			defer h.CloseArchive()
			for h.ChangeCount() < 4*pods {
				move()
			}
			var longest, written time.Duration
			for b.Loop() {
				for n, _ := h.Kept(); n <= MinInMemory; n, _ = h.Kept() {
					move()
				}
				began := time.Now()
				if stored, err := h.Store(); err != nil || stored {
					b.Fatalf("stored at once: %v, %v", stored, err)
				}
				longest, began = max(longest, time.Since(began)), time.Now()
				<-h.Storing()
				written, began = max(written, time.Since(began)), time.Now()
				if stored, err := h.Store(); err != nil || !stored {
					b.Fatalf("not stored: %v, %v", stored, err)
				}
				longest = max(longest, time.Since(began))
			}
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
			b.ReportMetric(float64(written.Microseconds())/1000, "ms-written")
		})
	}
}
