package room

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// maxTeachers leaves room for a second laptop or a retry.
const maxTeachers = 4

// admit checks that l may join now, and removes an inactive visitor if the room is full. The error
// is one sentence for the user. Room.update calls it.
func (r *Room) admit(l login) error {
	if l.teacher {
		if n := r.count(func(v *Visitor) bool { return v.teacher }); n >= maxTeachers {
			return fmt.Errorf("the room is full, with %s: try again when somebody has left", plural(n, "teacher"))
		}
		return nil
	}
	if l.code != "" && l.code != r.code {
		return errors.New("the room's code has changed: join again with the new one")
	}
	if left := r.banLeft(l); left > 0 {
		return fmt.Errorf("the teacher removed you: you can join again in %s", minutes(left))
	}
	limits := r.config.Limits
	all := r.count(func(v *Visitor) bool { return !v.teacher })
	sameSource := r.count(func(v *Visitor) bool { return !v.teacher && v.source == l.source })
	sourceFull := limits.PerAddress > 0 && sameSource >= limits.PerAddress
	if !sourceFull && all < limits.Sessions {
		return nil
	}
	v := r.leastActive(func(v *Visitor) bool { return !sourceFull || v.source == l.source })
	switch {
	case v != nil:
		v.leave("The room is full and you were inactive: somebody else took your place.")
		delete(r.visitors, v.id)
		return nil
	case sourceFull && all < limits.Sessions:
		return fmt.Errorf("the room allows only %s from your address: try again later", plural(limits.PerAddress, "visitor"))
	}
	return fmt.Errorf("the room is full, with %s: try again when somebody has left", plural(all, "visitor"))
}

// takeOver removes the visitor with the requested name, if that may be the same person after a lost
// connection: with the same key, or both with a code, and a client that does not answer a ping
// within Limits.TakeOverTimeout. l then gets the name and its progress.
func (r *Room) takeOver(ctx context.Context, l login) {
	r.mu.Lock()
	var old *Visitor
	for _, v := range r.visitors {
		if v.name == l.displayName() && v.key == l.key && v.teacher == l.teacher {
			old = v
		}
	}
	r.mu.Unlock()
	if old == nil || old.ping == nil || r.config.Limits.TakeOverTimeout <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.config.Limits.TakeOverTimeout)
	defer cancel()
	if old.ping(ctx) {
		return
	}
	old.leave("You joined again from elsewhere.")
	r.update(func(r *Room) {
		delete(r.visitors, old.id)
		r.leaveToken(old, false)
	})
	r.log.Info("reconnected", "name", old.name, "from", l.source)
}

// count counts the visitors, teachers included, that match.
func (r *Room) count(match func(*Visitor) bool) int {
	n := 0
	for _, v := range r.visitors {
		if match(v) {
			n++
		}
	}
	return n
}

// leastActive returns the visitor to replace among those that match: one without activity since
// joining, or for Limits.KeepSeat. It prefers the source with the most visitors, then the requested
// name with the most, then the longest inactivity. It returns nil if all are active.
func (r *Room) leastActive(match func(*Visitor) bool) *Visitor {
	type sourceName struct{ source, name string }
	sources, names := make(map[string]int), make(map[sourceName]int)
	for _, v := range r.visitors {
		sources[v.source]++
		names[sourceName{v.source, v.displayName()}]++
	}
	share := func(v *Visitor) (int, int) {
		return sources[v.source], names[sourceName{v.source, v.displayName()}]
	}
	var least *Visitor
	for _, v := range r.visitors {
		if v.teacher || v.isLeaving() || !match(v) || v.wasActive.Load() && v.idle() < r.config.Limits.KeepSeat {
			continue
		}
		if least != nil {
			source, name := share(v)
			leastSource, leastName := share(least)
			if cmp.Or(cmp.Compare(leastSource, source), cmp.Compare(leastName, name), cmp.Compare(v.lastActive.Load(), least.lastActive.Load())) > 0 {
				continue
			}
		}
		least = v
	}
	return least
}

// identities returns the keys by which a removed person is recognized: the name with the source, and
// the public key.
func (l login) identities() []string {
	all := []string{l.displayName() + " from " + l.source}
	if l.key != "" {
		all = append(all, l.key)
	}
	return all
}

// banLeft returns how much longer l is banned.
func (r *Room) banLeft(l login) time.Duration {
	left := time.Duration(0)
	for _, id := range l.identities() {
		left = max(left, time.Until(r.banned[id]))
	}
	return left
}

// maxBanned limits the number of remembered bans.
const maxBanned = 10_000

// ban removes a visitor for a teacher, and bans them for Limits.Ban. It returns their name.
func (r *Room) ban(by *Visitor, id uint64) (name string, err error) {
	r.update(func(r *Room) {
		v := r.visitors[id]
		switch {
		case v == nil:
			err = errAlreadyLeft
			return
		case v.teacher:
			err = errors.New("a teacher can't be removed")
			return
		}
		now := time.Now()
		for id, until := range r.banned {
			if !until.After(now) {
				delete(r.banned, id)
			}
		}
		for _, id := range v.identities() {
			if len(r.banned) < maxBanned {
				r.banned[id] = now.Add(r.config.Limits.Ban)
			}
		}
		name = v.name
		v.leave("The teacher removed you.")
		delete(r.visitors, id)
		r.leaveToken(v, false)
		r.log.Warn("removed", "name", name, "from", v.source, "by", by.name)
	})
	return name, err
}

var errAlreadyLeft = errors.New("that visitor has already left")

// changeCode replaces the room's code and returns the new one. Visitors in the room stay, and can return after a lost
// connection; all others need the new code. It returns "" if the room has no code.
func (r *Room) changeCode(by *Visitor) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.code == "" {
		return ""
	}
	for r.code = NewCode(); sameCode(r.code, r.config.Access.TeacherCode) || validateCode(r.code) != nil; {
		r.code = NewCode()
	}
	r.dropUnowned()
	r.log.Warn("room code changed", "by", by.name)
	return r.code
}
