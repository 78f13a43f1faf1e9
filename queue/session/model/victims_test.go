package model

import (
	"testing"

	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// TestRerunDeletesVictims: a pod that the recorded scheduler preempted lives on where there is room elsewhere.
func TestRerunDeletesVictims(t *testing.T) {
	for _, c := range []struct {
		name, room string
		lives      bool
	}{
		{"room", "4", true},
		{"no room", "1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec, err := Rerun(world.WithVictim(c.room), "")
			if err != nil {
				t.Fatal(err)
			}
			lives := true
			r := newRerun(world.Config(t), func(ev sources.Event) {
				if o, ok := ev.Fact.(*sources.ObjectChange); ok && o.Verb == sources.Deleted {
					lives = false
				}
			})
			if err := r.start(world.At(0)); err != nil {
				t.Fatal(err)
			}
			defer r.close()
			for _, ev := range rec.Events {
				if err := r.apply(ev); err != nil {
					t.Fatal(err)
				}
			}
			r.advance(rec.End)
			if lives != c.lives {
				t.Errorf("that the victim lives on is %v, want %v", lives, c.lives)
			}
		})
	}
}
