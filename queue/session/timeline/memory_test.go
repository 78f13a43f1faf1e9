package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/sources"
)

// TestForget: after the oldest changes are dropped, later moments show the same, and what-ifs start in the same state.
func TestForget(t *testing.T) {
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	rec := &sources.Recording{}
	for i := range 4 * history.KeyframeEvery {
		m := &sources.Move{Pod: types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("p-%d", i/4)}}
		switch i % 4 {
		case 0:
			m.To, m.Event = sources.TierActive, cluster.UnscheduledPodAdd
		case 1:
			m.To = sources.TierInFlight
		case 2:
			m.To, m.Event, m.Plugins = sources.TierUnschedulable, queue.ScheduleAttemptFailure, []string{"NodeResourcesFit"}
		case 3:
			if m.To = sources.TierDeleted; i%3 == 0 {
				m.To, m.Event = sources.TierBackoff, "NodeAdd"
			}
		}
		at := start.Add(time.Duration(i) * time.Second)
		rec.Events = append(rec.Events, sources.Event{Time: at, Fact: m})
		if i%100 == 50 {
			rec.Events = append(rec.Events, sources.Event{Time: at, Fact: &sources.Counts{Active: i}})
		}
	}
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	line := func() *Timeline {
		tl := New(rec, cfg, nil)
		tl.GoTo(tl.End)
		return tl
	}
	whole, cut := line(), line()
	cut.Forget(2*history.KeyframeEvery, nil)
	cut.ForgetCounts(2 * history.KeyframeEvery)
	since := cut.History.OldestAt()
	if left, first := cut.Kept(); left != whole.ChangeCount()-2*history.KeyframeEvery || first+left != whole.ChangeCount() || len(cut.Counts) != len(whole.Counts)/2 {
		t.Errorf("%d of %d changes are kept, and %d of %d counts", left, whole.ChangeCount(), len(cut.Counts), len(whole.Counts))
	}
	for _, at := range []time.Time{since, since.Add(7 * time.Second), since.Add(40 * time.Minute), whole.End, since.Add(time.Minute)} {
		whole.GoTo(at)
		cut.GoTo(at)
		if got, want := queued(cut.Shown), queued(whole.Shown); got != want {
			t.Errorf("at %s got\n%.300s\nwant\n%.300s", at.Format(time.TimeOnly), got, want)
		}
		if got, want := queued(cut.Fork(at).Shown), queued(whole.Shown); got != want {
			t.Errorf("a what-if from %s starts with\n%.300s\nwant\n%.300s", at.Format(time.TimeOnly), got, want)
		}
		info, known := cut.EngineShown(at).Queue.Get("default", cut.Move(cut.Moved-1).Pod.Key.Name)
		if wantInfo, wantKnown := whole.EngineShown(at).Queue.Get("default", whole.Move(whole.Moved-1).Pod.Key.Name); known != wantKnown || info.Tier != wantInfo.Tier || info.Attempts != wantInfo.Attempts {
			t.Errorf("at %s the queue has %+v, want %+v", at.Format(time.TimeOnly), info, wantInfo)
		}
	}
	if old := start.Add(time.Second); cut.Head().Get(types.NamespacedName{Namespace: "default", Name: "p-1"}) != nil && cut.History.OldestAt().After(old) {
		t.Error("a pod that left long ago is still on the board")
	}
}

// queued lists the pods of a board that are in the queue.
func queued(b *board.Board) string {
	var s strings.Builder
	for _, tier := range board.Tiers {
		for i := range b.Len(tier) {
			p := b.At(tier, i)
			fmt.Fprintf(&s, "%s %s %d %s\n", tier, p.Key.Name, p.Attempts, p.Since.Format(time.TimeOnly))
		}
	}
	return s.String()
}
