package room

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// Whoever holds most of the memory is slowed and sent out first, whatever the others type, and nobody who holds less
// than their share.
func TestWhoHoldsMostOfTheMemoryGoesFirst(t *testing.T) {
	limits := DefaultLimits()
	limits.Memory = 512 << 20
	_, _, r := opened(t, func(l *Limits) { *l = limits })
	come := func(name string, teacher bool, holds int64) *Visitor {
		v, err := r.enter(guest{user: name, source: "10.0.0.1", teacher: teacher})
		if err != nil {
			t.Fatal(err)
		}
		v.holds.Store(holds)
		return v
	}
	slowed := func(v *Visitor) bool {
		select {
		case <-v.slowing:
			return true
		default:
			return false
		}
	}
	honest := come("ada", false, limits.share())
	honest.typed.Store(1 << 20) // busy
	teacher := come("tina", true, 300<<20)
	var growers []*Visitor
	for i := range 3 {
		growers = append(growers, come(fmt.Sprint("eve", i), false, int64(20+i)<<20))
	}
	if r.relieve(limits.Memory/2) || slowed(growers[0]) {
		t.Error("somebody is slowed while there is enough")
	}
	if r.relieve(limits.Memory) || !slowed(growers[0]) || !slowed(growers[2]) || !slowed(teacher) || slowed(honest) {
		t.Error("who holds more than their share is slowed, and nobody else")
	}
	for i := 2; i >= 0; i-- {
		if !r.relieve(limits.Memory+1) || !growers[i].isLeaving() {
			t.Errorf("the one who holds %d MB is not sent out", 20+i)
		}
		if want := fmt.Sprintf("Memory ran out, and your session held most of it, %d MB: come in again.", 20+i); growers[i].goodbye != want {
			t.Errorf("they are told %q", growers[i].goodbye)
		}
	}
	if r.relieve(limits.Memory+1) || honest.isLeaving() || teacher.isLeaving() {
		t.Error("somebody who holds no more than their share is sent out, or the teacher")
	}
}

// hoard is a screen that holds much.
type hoard struct {
	blank
	slowed *bool
}

func (hoard) Size() int64 { return 77 }
func (h hoard) Slow() tea.Cmd {
	*h.slowed = true
	return nil
}
func (h hoard) Update(tea.Msg) (tea.Model, tea.Cmd) { return h, nil }

func TestAScreenTellsWhatItHoldsAndIsSlowed(t *testing.T) {
	_, _, r := opened(t, nil)
	v, err := r.enter(guest{user: "ada", source: "10.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	slowed := false
	s := newScreen(v, hoard{slowed: &slowed})
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if v.holds.Load() != 77 || slowed {
		t.Errorf("it holds %d, slowed %t", v.holds.Load(), slowed)
	}
	if s.Update(slowMsg{}); !slowed {
		t.Error("it is not slowed")
	}
	if !strings.Contains(s.View().Content, "ada") {
		t.Error("the bar is gone")
	}
}
