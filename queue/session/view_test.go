package session

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/world"
)

// TestView: a board with a filter and a sort order shows the matching pods in that order at any time.
func TestView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := world.Recordings(60).Draw(t, "recording")
		line := timeline.New(rec, world.Config(t), nil)
		var v *board.View
		if text := rapid.SampledFrom([]string{"", "p-1", "!p-1", "fit", "second=7", "p- !fit", "waiting>5s", "waiting<=20s p-1", "!waiting>9s waiting>3s", "attempts>1"}).Draw(t, "filter"); text != "" {
			v = v.WithFilter(world.Filter(t, text))
		}
		if by := rapid.SampledFrom(board.Columns()).Draw(t, "by"); by != board.ByQueue || v == nil {
			v = v.WithSort(board.Sort{By: by, Reverse: rapid.Bool().Draw(t, "reverse")}, []queue.Tier{queue.Active, queue.Unschedulable})
		}
		length := line.End.Sub(line.Start)
		for i := range 6 {
			now := line.Start.Add(time.Duration(rapid.Int64Range(0, int64(length)).Draw(t, "to")))
			line.GoTo(now)
			line.Shown.Retime(now)
			if i == 1 {
				line.SetView(line.Shown, v, now)
			}
			if i < 1 {
				continue
			}
			for _, tier := range board.Tiers {
				var want []*board.Pod
				line.Shown.Tiers[tier].Scan(func(p *board.Pod) bool {
					if v.Filter.Match(p.Facts(now)) {
						want = append(want, p)
					}
					return true
				})
				before := line.Shown.Sort(tier).Order(tier)
				slices.SortStableFunc(want, func(a, b *board.Pod) int {
					switch {
					case before(a, b):
						return -1
					case before(b, a):
						return 1
					}
					return 0
				})
				if got := line.Shown.Len(tier); got != len(want) {
					t.Fatalf("%d %s pods are shown, and %d match", got, tier, len(want))
				}
				for n, p := range want {
					if got := line.Shown.At(tier, n); got != p {
						t.Fatalf("%s %d is %v, not %s", tier, n, got, p.Key)
					}
					if got := line.Shown.Index(p); got != n {
						t.Fatalf("%s is number %d of %s, Index says %d", p.Key, n, tier, got)
					}
				}
			}
		}
	})
}

// TestSort: each column, also reversed.
func TestSort(t *testing.T) {
	o := newOwner(world.SmallRecording(), timeline.Options{Paused: true})
	controller := true
	for i, p := range []struct {
		name, namespace, owner string
		prio                   int32
	}{{"b", "shop", "", 5}, {"a", "zoo", "ReplicaSet", 1}, {"c", "ml", "Job", 9}} {
		pod := cluster.Placeholder(world.Key(p.name))
		pod.Namespace, pod.UID, pod.Spec.Priority = p.namespace, pod.UID+"1", &p.prio
		if p.owner != "" {
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: p.owner, Name: p.name, Controller: &controller}}
		}
		o.seek(o.now.Add(time.Duration(i) * time.Second))
		o.inject("add", func(e *timeline.Engine, now time.Time) { e.Queue.Add(now, pod) })
	}
	for sort, want := range map[board.Sort]string{
		{}:                                    "c b a",
		{By: board.ByName}:                    "a b c",
		{By: board.ByName, Reverse: true}:     "c b a",
		{By: board.ByNamespace}:               "c b a",
		{By: board.ByPriority, Reverse: true}: "a b c",
		{By: board.ByWaiting}:                 "b a c",
		{By: board.ByDwell}:                   "b a c",
		{By: board.ByOwner, Reverse: true}:    "a b c",
		{By: board.ByAttempts}:                "c b a", // ties by namespace and name
		{By: board.ByPlugin, Reverse: true}:   "a b c",
	} {
		o.sortBy(sort, []queue.Tier{queue.Active})
		got := ""
		for i := range o.fork.Shown.Len(queue.Active) {
			got += fmt.Sprint(" ", o.fork.Shown.At(queue.Active, i).Key.Name)
		}
		if got != " "+want {
			t.Errorf("by %+v it is%s, want %s", sort, got, want)
		}
	}
	o.sortBy(board.Sort{By: "no"}, []queue.Tier{queue.Active})
	if !o.reply.Refused {
		t.Error("a column that is none is not refused")
	}
}
