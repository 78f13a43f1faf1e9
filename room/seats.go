package room

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// seatFor finds out whether there is a seat for g. If there is none, somebody who does not use theirs gives way. The
// error is one sentence for g. It is called by Room.change.
func (r *Room) seatFor(g guest) error {
	if g.teacher {
		if there := r.count(func(v *Visitor) bool { return v.teacher }); there >= teachers {
			return fmt.Errorf("the room is full, with %d teachers in it: try again when somebody has left", there)
		}
		return nil
	}
	if left := r.outFor(g); left > 0 {
		return fmt.Errorf("the teacher has sent you out: you can come in again in %s", minutes(left))
	}
	limits := r.config.Limits
	all := r.count(func(v *Visitor) bool { return !v.teacher })
	ofOne := r.count(func(v *Visitor) bool { return !v.teacher && v.source == g.source })
	crowded := limits.PerAddress > 0 && ofOne >= limits.PerAddress
	if !crowded && all < limits.Sessions {
		return nil
	}
	v := r.idlest(func(v *Visitor) bool { return !crowded || v.source == g.source })
	switch {
	case v != nil:
		v.leave("The room is full and you had done nothing: your seat is somebody else's now.")
		delete(r.seats, v.id)
		return nil
	case crowded && all < limits.Sessions:
		return fmt.Errorf("the room takes %d at once from where you come from: try again later", limits.PerAddress)
	}
	return fmt.Errorf("the room is full, with %d in it: try again when somebody has left", all)
}

// giveUpLost frees the seat of whoever is called as g asks to be, if it can be the same person whose connection was lost: they
// came by the same key, or as g by a code, and their client does not answer within Limits.Answer. g then has the name, and so
// the place. Who answers keeps the seat.
func (r *Room) giveUpLost(ctx context.Context, g guest) {
	r.mu.Lock()
	var there *Visitor
	for _, v := range r.seats {
		if v.name == g.login() && v.key == g.key && v.teacher == g.teacher {
			there = v
		}
	}
	r.mu.Unlock()
	if there == nil || there.answers == nil || r.config.Limits.Answer <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.config.Limits.Answer)
	defer cancel()
	if there.answers(ctx) {
		return
	}
	there.leave("You came in again from elsewhere.")
	r.change(func(r *Room) { delete(r.seats, there.id) })
	r.log.Info("lost, and back", "name", there.name, "from", g.source)
}

// count counts those in the room who are of a kind.
func (r *Room) count(is func(*Visitor) bool) int {
	n := 0
	for _, v := range r.seats {
		if is(v) {
			n++
		}
	}
	return n
}

// idlest returns the visitor who has least use for a seat, among those whom may allows: who has done nothing since
// they came, or nothing for as long as Limits.Keep. Of those, one from where most come from, then by the name that
// most have, then the one who has done nothing for longest. Nil if all use theirs.
func (r *Room) idlest(may func(*Visitor) bool) *Visitor {
	type shared struct{ source, login string }
	sources, names := make(map[string]int), make(map[shared]int)
	for _, v := range r.seats {
		sources[v.source]++
		names[shared{v.source, v.login()}]++
	}
	share := func(v *Visitor) (int, int) { return sources[v.source], names[shared{v.source, v.login()}] }
	var out *Visitor
	for _, v := range r.seats {
		if v.teacher || v.isLeaving() || !may(v) || v.began.Load() && v.idle() < r.config.Limits.Keep {
			continue
		}
		if out != nil {
			bySource, byName := share(v)
			ofOut, ofOutsName := share(out)
			if cmp.Or(cmp.Compare(ofOut, bySource), cmp.Compare(ofOutsName, byName), cmp.Compare(v.active.Load(), out.active.Load())) > 0 {
				continue
			}
		}
		out = v
	}
	return out
}

// identities returns what tells whether somebody comes in again: the name and where they are, and the key.
func (g guest) identities() []string {
	all := []string{g.login() + " from " + g.source}
	if g.key != "" {
		all = append(all, g.key)
	}
	return all
}

// outFor is for how long g does not get in yet.
func (r *Room) outFor(g guest) time.Duration {
	left := time.Duration(0)
	for _, by := range g.identities() {
		left = max(left, time.Until(r.sentOut[by]))
	}
	return left
}

// mostSentOut is of how many it is known that they were sent out.
const mostSentOut = 10_000

// sendOut has a teacher send somebody out, who does not get in again for a while. It returns whom, or why not.
func (r *Room) sendOut(by *Visitor, id uint64) (name string, err error) {
	r.change(func(r *Room) {
		v := r.seats[id]
		switch {
		case v == nil:
			err = errors.New("they have left")
			return
		case v.teacher:
			err = errors.New("a teacher stays")
			return
		}
		now := time.Now()
		for by, until := range r.sentOut {
			if !until.After(now) {
				delete(r.sentOut, by)
			}
		}
		for _, by := range v.identities() {
			if len(r.sentOut) < mostSentOut {
				r.sentOut[by] = now.Add(r.config.Limits.SentOut)
			}
		}
		name = v.name
		v.leave("The teacher has sent you out.")
		delete(r.seats, id)
		r.log.Warn("sent out", "name", name, "from", v.source, "by", by.name)
	})
	return name, err
}

// changeCode gives the room another code, which it returns. Who is in stays. It is empty if nobody comes in by a code.
func (r *Room) changeCode(by *Visitor) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.code == "" {
		return ""
	}
	for r.code = NewCode(); sameCode(r.code, r.config.Access.TeacherCode) || strong(r.code) != nil; {
		r.code = NewCode()
	}
	r.log.Warn("the room has another code", "by", by.name)
	return r.code
}
