package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

var revisionBegin = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// pods are changes of pods that come one a second, of revisions from one on.
func pods(prefix string, from time.Duration, revision uint64, step uint64, count int) *OriginRevisions {
	r := &OriginRevisions{}
	for i := range count {
		at := revisionBegin.Add(from + time.Duration(i)*time.Second)
		name := fmt.Sprintf("%s-%d", prefix, i)
		r.Add(OriginChange{types.NamespacedName{Namespace: "default", Name: name}, types.UID(name), revision + uint64(i)*step, at, at})
	}
	return r
}

// TestConflict: two logs are of two clusters if their pods' revisions can't be of one.
func TestConflict(t *testing.T) {
	const both = "a.log and b.log are of two clusters, or of one before and after its etcd was restored: "
	hour := time.Hour
	damaged := pods("web", 0, 1000, 2, 600)
	for _, digit := range []uint64{1 << 40, 1 << 41} {
		damaged.Add(OriginChange{types.NamespacedName{Name: "x"}, "x", digit, revisionBegin, revisionBegin})
	}
	for _, c := range []struct {
		name string
		a, b *OriginRevisions
		want string
	}{
		{"one after the other", pods("web", 0, 1000, 2, 600), pods("job", hour, 9000, 2, 600), ""},
		{"beside each other", pods("web", 0, 1000, 2, 600), pods("job", 0, 1001, 2, 600), ""},
		{"the same, written by two API servers", pods("web", 0, 1000, 2, 600), pods("web", 0, 1000, 2, 600), ""},
		{"without revisions", pods("web", 0, 0, 0, 600), pods("job", 0, 0, 0, 600), ""},
		{"damaged", damaged, pods("job", 0, 1001, 2, 600), ""},
		{"late in one minute", pods("web", 0, 1000, 2, 600), pods("job", -time.Minute, 1001, 2, 600), ""},
		{"the same revisions", pods("web", 0, 1000, 2, 600), pods("job", 0, 1000, 2, 600),
			both + "at revision 1004 the former has the pod default/web-2 and the latter default/job-2, and so it is with others"},
		{"of another age", pods("web", 0, 1_000_001, 2, 600), pods("job", 0, 1000, 2, 600),
			both + "a.log comes to revision 1000119 before 2026-11-21 10:03 UTC, and in b.log pods that are made after that have lower ones, such as 1360"},
		{"of another age, the other way round", pods("job", 0, 1000, 2, 600), pods("web", 0, 1_000_001, 2, 600), both + "b.log comes to revision"},
		{"later, and younger", pods("web", 0, 1_000_000, 2, 600), pods("job", hour, 1000, 2, 60), both + "a.log comes to revision 1001198 before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if err := OriginConflict([]OriginLog{{"a.log", c.a}, {"b.log", c.b}}); err != nil {
				got = err.Error()
			}
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestBounded: of a log of any length some megabytes are remembered, and they still tell it apart.
func TestBounded(t *testing.T) {
	a, b := pods("web", 0, 1000, 1, 200_000), pods("job", 0, 1000, 1, 200_000)
	if len(a.kept) > maxKept || len(a.kept) < maxKept/4 {
		t.Errorf("%d revisions are kept", len(a.kept))
	}
	if err := OriginConflict([]OriginLog{{"a", a}, {"b", b}}); err == nil || !strings.Contains(err.Error(), "at revision") {
		t.Error(err)
	}
	pod := types.NamespacedName{Name: "p"}
	for i := range 1_000_000 {
		at := revisionBegin.Add(time.Duration(i) * revisionStretch)
		a.Add(OriginChange{pod, "p", uint64(i), at, at})
	}
	if len(a.counts) > 16*maxKept {
		t.Errorf("%d stretches of time are kept", len(a.counts))
	}
}
