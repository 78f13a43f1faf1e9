package session

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
)

// TestView: a board that is seen through a filter and in an order shows what matches at its moment, and in
// that order, wherever one goes.
func TestView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := recordings(60).Draw(t, "recording")
		line := newTimeline(rec, defaults(t), nil)
		var v *view
		if text := rapid.SampledFrom([]string{"", "p-1", "!p-1", "fit", "second=7", "p- !fit", "waiting>5s", "waiting<=20s p-1", "!waiting>9s waiting>3s", "attempts>1"}).Draw(t, "filter"); text != "" {
			v = v.seen(parse(t, text))
		}
		if by := rapid.SampledFrom(Columns()).Draw(t, "by"); by != ByQueue || v == nil {
			v = v.sorted(Sort{by, rapid.Bool().Draw(t, "reverse")}, []queue.Tier{queue.Active, queue.Unschedulable})
		}
		length := line.end.Sub(line.start)
		for i := range 6 {
			now := line.start.Add(time.Duration(rapid.Int64Range(0, int64(length)).Draw(t, "to")))
			line.goTo(now)
			line.shown.retime(now)
			if i == 1 {
				line.see(line.shown, v, now)
			}
			if i < 1 {
				continue
			}
			for _, tier := range shown {
				var want []*Pod
				line.shown.tiers[tier].Scan(func(p *Pod) bool {
					if v.filter.Match(p.facts(now)) {
						want = append(want, p)
					}
					return true
				})
				before := line.shown.Sort(tier).order(tier)
				slices.SortStableFunc(want, func(a, b *Pod) int {
					switch {
					case before(a, b):
						return -1
					case before(b, a):
						return 1
					}
					return 0
				})
				if got := line.shown.Len(tier); got != len(want) {
					t.Fatalf("%d %s pods are shown, and %d match", got, tier, len(want))
				}
				for n, p := range want {
					if got := line.shown.At(tier, n); got != p {
						t.Fatalf("%s %d is %v, not %s", tier, n, got, p.Key)
					}
					if got := line.shown.Index(p); got != n {
						t.Fatalf("%s is number %d of %s, Index says %d", p.Key, n, tier, got)
					}
				}
			}
		}
	})
}

// TestSort: by each column, and the other way round.
func TestSort(t *testing.T) {
	o := newOwner(smallRecording(), Options{Paused: true})
	controller := true
	for i, p := range []struct {
		name, namespace, owner string
		prio                   int32
	}{{"b", "shop", "", 5}, {"a", "zoo", "ReplicaSet", 1}, {"c", "ml", "Job", 9}} {
		pod := placeholder(key(p.name))
		pod.Namespace, pod.UID, pod.Spec.Priority = p.namespace, pod.UID+"1", &p.prio
		if p.owner != "" {
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: p.owner, Name: p.name, Controller: &controller}}
		}
		o.seek(o.now.Add(time.Duration(i) * time.Second))
		o.inject("add", func(e *engine, now time.Time) { e.queue.Add(now, pod) })
	}
	for sort, want := range map[Sort]string{
		{}:                              "c b a",
		{By: ByName}:                    "a b c",
		{By: ByName, Reverse: true}:     "c b a",
		{By: ByNamespace}:               "c b a",
		{By: ByPriority, Reverse: true}: "a b c",
		{By: ByWaiting}:                 "b a c",
		{By: ByDwell}:                   "b a c",
		{By: ByOwner, Reverse: true}:    "a b c",
		{By: ByAttempts}:                "c b a", // of equals, by namespace and name
		{By: ByPlugin, Reverse: true}:   "a b c",
	} {
		o.sortBy(sort, []queue.Tier{queue.Active})
		got := ""
		for i := range o.fork.shown.Len(queue.Active) {
			got += fmt.Sprint(" ", o.fork.shown.At(queue.Active, i).Key.Name)
		}
		if got != " "+want {
			t.Errorf("by %+v it is%s, want %s", sort, got, want)
		}
	}
	o.sortBy(Sort{By: "no"}, []queue.Tier{queue.Active})
	if !o.said.Refused {
		t.Error("a column that is none is not refused")
	}
}
