package tried

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func at(seconds float64) time.Time {
	return time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}

// TestPods: of each pod the last attempt is known, until it is forgotten.
func TestPods(t *testing.T) {
	var p Pods
	if _, known := p.Last("web"); known || p.IsNew(at(10), "web", time.Second) || p.IsUnseen(at(10), "web", time.Second) || p.See(at(10), "web", time.Second) {
		t.Error("an attempt is known of a pod that was not tried")
	}
	p.SeePatch("web")
	p.Note("web", Attempt{At: at(9), Message: "first"})
	p.Note("web", Attempt{At: at(10), Message: "second"})
	p.Note("db", Attempt{At: at(10)})
	if a, known := p.Last("web"); !known || a.Message != "second" {
		t.Errorf("the last attempt is %v, %t", a, known)
	}
	if p.SeePatch("web"); p.last["web"].Message != "" {
		t.Error("its patch was seen, and another is to have its message")
	}
	p.Forget("web")
	if _, known := p.Last("web"); known || len(p.last) != 1 {
		t.Errorf("%d pods are known, want db alone", len(p.last))
	}
	if p.Clear(); len(p.last) != 0 {
		t.Errorf("%d pods are known, want none", len(p.last))
	}
}

// TestIsNew: an attempt is new for a while, and until another is seen to end.
func TestIsNew(t *testing.T) {
	p := Pods{}
	p.Note("web", Attempt{At: at(10)})
	for _, c := range []struct {
		now, ended float64
		want       bool
	}{{10.009, 0, true}, {10.01, 0, false}, {10.009, 10, true}, {10.009, 10.001, false}} {
		if p.Ended = at(c.ended); p.IsNew(at(c.now), "web", 10*time.Millisecond) != c.want {
			t.Errorf("at %v, another ended at %v: want %t", c.now, c.ended, c.want)
		}
	}
}

// TestSee: what is seen is the last attempt, if that ended no earlier, and not once more.
func TestSee(t *testing.T) {
	var p Pods
	p.Note("web", Attempt{At: at(10)})
	if !p.IsUnseen(at(10.009), "web", 10*time.Millisecond) || p.IsUnseen(at(10.01), "web", 10*time.Millisecond) {
		t.Error("it is not unseen for 10 ms")
	}
	if p.See(at(10.006), "web", 5*time.Millisecond) || p.last["web"].Seen {
		t.Error("the one of 10.006 is a later one")
	}
	if !p.See(at(10.005), "web", 5*time.Millisecond) || p.IsUnseen(at(10.005), "web", time.Second) {
		t.Error("the one of 10.005 is that one, which is seen now")
	}
}

// TestWriter: a patch is of no attempt that is long over, or that would have counted nodes that were not there.
func TestWriter(t *testing.T) {
	var p Pods
	p.Note("web", Attempt{At: at(10), Message: "0/11 nodes are available: 11 Insufficient cpu."})
	p.Note("db", Attempt{At: at(10)})
	for _, c := range []struct {
		now   float64
		nodes int
		uid   types.UID
		wrote string
		want  bool
	}{
		{10, 11, "web", "0/11 nodes are available: 11 node(s) were unschedulable.", true},
		{10, 11, "web", "0/10 nodes are available: 10 Insufficient cpu.", false},
		{10, 10, "web", "0/10 nodes are available: 10 Insufficient cpu.", true},
		{10, 11, "web", "no nodes available to schedule pods", true},
		{10, 11, "web", "", true},
		{10.01, 11, "web", "", false},
		{10, 11, "db", "0/10 nodes are available: 10 Insufficient cpu.", true},
		{10, 11, "other", "", false},
	} {
		if got := p.Writer(at(c.now), 10*time.Millisecond, c.nodes)(c.uid, c.wrote); got != c.want {
			t.Errorf("at %v, with %d nodes, %q of %s: %v, want %v", c.now, c.nodes, c.wrote, c.uid, got, c.want)
		}
	}
}
