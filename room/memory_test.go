package room

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestRelieveMemory: when memory runs out, the largest sessions are slowed and then closed, but
// none below its share and never the teacher's.
func TestRelieveMemory(t *testing.T) {
	limits := DefaultLimits()
	limits.Memory = 512 << 20
	_, _, r := serveRoom(t, func(l *Limits) { *l = limits })
	join := func(name string, teacher bool, memory int64) *Visitor {
		v, err := r.join(login{user: name, source: "10.0.0.1", teacher: teacher}, Identity{})
		if err != nil {
			t.Fatal(err)
		}
		v.memory.Store(memory)
		return v
	}
	slowed := func(v *Visitor) bool {
		select {
		case <-v.slowRequested:
			return true
		default:
			return false
		}
	}
	small := join("ada", false, limits.memoryShare())
	small.inputBytes.Store(1 << 20) // activity makes no difference
	teacher := join("tina", true, 300<<20)
	var large []*Visitor
	for i := range 3 {
		large = append(large, join(fmt.Sprint("eve", i), false, int64(20+i)<<20))
	}
	if r.relieveMemory(limits.Memory/2) || slowed(large[0]) {
		t.Error("a session is slowed below half the memory")
	}
	if r.relieveMemory(limits.Memory) || !slowed(large[0]) || !slowed(large[2]) || !slowed(teacher) || slowed(small) {
		t.Error("want exactly the sessions above their share slowed")
	}
	for i := 2; i >= 0; i-- {
		if !r.relieveMemory(limits.Memory+1) || !large[i].isLeaving() {
			t.Errorf("the session of %d MB is not closed", 20+i)
		}
		if want := fmt.Sprintf("The room ran out of memory and your session was the largest (%d MB): join again to continue.", 20+i); large[i].goodbye != want {
			t.Errorf("the message is %q", large[i].goodbye)
		}
	}
	if r.relieveMemory(limits.Memory+1) || small.isLeaving() || teacher.isLeaving() {
		t.Error("a session within its share or the teacher's is closed")
	}
}

// sizedModel reports its size, and records when it is slowed.
type sizedModel struct {
	blank
	slowed *bool
}

func (sizedModel) Size() int64 { return 77 }
func (h sizedModel) Slow() tea.Cmd {
	*h.slowed = true
	return nil
}
func (h sizedModel) Update(tea.Msg) (tea.Model, tea.Cmd) { return h, nil }

func TestScreenReportsSizeAndIsSlowed(t *testing.T) {
	_, _, r := serveRoom(t, nil)
	v, err := r.join(login{user: "ada", source: "10.0.0.1"}, Identity{})
	if err != nil {
		t.Fatal(err)
	}
	slowed := false
	s := newScreen(v, sizedModel{slowed: &slowed})
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if v.memory.Load() != 77+screenMemory(80, 24) || slowed {
		t.Errorf("size %d, slowed %t", v.memory.Load(), slowed)
	}
	if s.Update(slowMsg{}); !slowed {
		t.Error("the model is not slowed")
	}
	if !strings.Contains(s.View().Content, "ada") {
		t.Error("the bar is missing")
	}
}

// TestAnswersAreBounded: visitors with ever new names can't make the room keep more and more
// answers.
func TestAnswersAreBounded(t *testing.T) {
	_, _, r := serveRoom(t, nil)
	predict := func(name string, answer int) {
		v, err := r.join(login{user: name, source: "10.0.0.1"}, Identity{})
		if err != nil {
			t.Fatal(err)
		}
		v.RecordPrediction(Prediction{Lesson: "one", Step: "two", Question: "three", Answers: []string{"yes", "no"}, Answer: answer})
		r.remove(v, false)
	}
	predict("ada", 0)
	for i := range maxGiven + 10 {
		predict(fmt.Sprint("eve", i), 0)
	}
	predict("ada", 1)
	if got := r.tallies[0]; got.total != maxGiven || got.counts[1] != 1 {
		t.Errorf("%d answers are kept, %d of them changed", got.total, got.counts[1])
	}
}
