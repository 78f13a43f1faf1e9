package room

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

// Visitor is somebody in the room. A lesson tells the room of them with At and Predicted.
type Visitor struct {
	room *Room
	id   uint64
	guest
	name   string
	ctx    context.Context
	cancel context.CancelFunc

	typed  atomic.Int64 // bytes
	active atomic.Int64 // when they did something last, in Unix nanoseconds
	began  atomic.Bool  // whether they have done anything since they came
	holds  atomic.Int64 // bytes of memory, by their screen's account

	// Of the room, and changed by Room.change alone.
	place     string
	following bool

	slowing chan struct{} // holds something while the screen is to play slowly
	once    sync.Once
	leaving chan struct{} // closed when goodbye is said
	goodbye string
}

// Name is what the visitor is called in the room. No two are called the same at a time.
func (v *Visitor) Name() string { return v.name }

// Teacher reports whether this is the teacher.
func (v *Visitor) Teacher() bool { return v.teacher }

// Context ends when the visitor leaves.
func (v *Visitor) Context() context.Context { return v.ctx }

// leave sends the visitor out with some words. Empty: they know.
func (v *Visitor) leave(why string) {
	v.once.Do(func() {
		v.goodbye = why
		close(v.leaving)
	})
}

// isLeaving reports whether the visitor is on the way out.
func (v *Visitor) isLeaving() bool {
	select {
	case <-v.leaving:
		return true
	default:
		return false
	}
}

// slow has the visitor's screen play slowly.
func (v *Visitor) slow() {
	select {
	case v.slowing <- struct{}{}:
	default: // it is about to
	}
}

// noteActivity notes that the visitor does something.
func (v *Visitor) noteActivity() {
	v.active.Store(time.Now().UnixNano())
	v.began.Store(true)
}

// idle is for how long they have done nothing.
func (v *Visitor) idle() time.Duration { return time.Since(time.Unix(0, v.active.Load())) }

// legible reports as an error that a name can't be shown beside others: letters that are not seen, or that turn
// round what stands beside them.
func legible(name string) error {
	for _, r := range name {
		if of, _ := bidi.LookupRune(r); of.Class() == bidi.R || of.Class() == bidi.AL || of.Class() == bidi.AN {
			return errors.New("a name here goes from left to right: come in by another")
		}
		if unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			return errors.New("a name here has no letters that can't be seen: come in by another")
		}
	}
	return nil
}

// longestName is how long a visitor's name is at the most, in letters.
const longestName = 16

// nameOf makes a name of what a client logs in as: letters and digits, and what joins them.
func nameOf(user string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(user, ""))
	if runes := []rune(name); len(runes) > longestName {
		name = string(runes[:longestName])
	}
	return cmp.Or(strings.Trim(name, "-_."), "somebody")
}

// guest is somebody who was let in and has no seat yet.
type guest struct {
	user    string // what the client logs in as
	source  string // where they come from
	key     string // by which they came, or empty
	teacher bool
	answers func(context.Context) bool // whether their client is there: see connection.answers
}

// login is the name that they ask for.
func (g guest) login() string { return nameOf(g.user) }

// enter seats a visitor. The error is one sentence for them.
func (r *Room) enter(g guest) (*Visitor, error) {
	if err := legible(g.login()); err != nil {
		return nil, err
	}
	if !g.teacher && r.config.Limits.full() {
		return nil, errors.New("the room has no memory left for one more: try again when somebody has left")
	}
	v := &Visitor{room: r, guest: g, place: "just came in", leaving: make(chan struct{}), slowing: make(chan struct{}, 1)}
	v.active.Store(time.Now().UnixNano())
	v.ctx, v.cancel = context.WithCancel(context.Background())
	var err error
	r.change(func(r *Room) {
		if err = r.seatFor(g); err != nil {
			return
		}
		r.arrivals++
		v.id, v.name = r.arrivals, r.freeName(g.login())
		r.seats[v.id] = v
	})
	if err != nil {
		v.cancel()
		return nil, err
	}
	return v, nil
}

// teachers is how many seats there are for teachers: another laptop, another try.
const teachers = 4

// freeName returns name, with a number behind it if somebody is called that.
func (r *Room) freeName(name string) string {
	taken := make(map[string]bool, len(r.seats))
	for _, v := range r.seats {
		taken[v.name] = true
	}
	for n, try := 2, name; ; n++ {
		if !taken[try] {
			return try
		}
		try = fmt.Sprintf("%s-%d", name, n)
	}
}

// exit frees the seat. Of a teacher's who was followed, everybody lets go. What was predicted stays.
func (r *Room) exit(v *Visitor) {
	v.leave("")
	v.cancel()
	r.change(func(r *Room) {
		delete(r.seats, v.id)
		if c, _ := r.call.get(); c.by == v.id {
			r.call.set(call{number: c.number})
		}
	})
}

// change changes the room and tells the teachers.
func (r *Room) change(do func(*Room)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do(r)
	s := &standing{tallies: r.tallied}
	for _, v := range r.seats {
		s.seats = append(s.seats, seat{v.name, v.place, v.teacher, v.following, v.id})
	}
	slices.SortFunc(s.seats, func(a, b seat) int { return cmp.Compare(a.id, b.id) })
	r.standing.set(s)
}

// standing is how things stand in the room, at one moment.
type standing struct {
	seats   []seat // in the order in which they came
	tallies []tally
}

// seat is somebody in the room.
type seat struct {
	name, place        string
	teacher, following bool
	id                 uint64
}

// visitors is how many there are beside teachers, and followers how many of them follow.
func (s *standing) visitors() (all, followers int) {
	for _, seat := range s.seats {
		if !seat.teacher {
			all++
			if seat.following {
				followers++
			}
		}
	}
	return all, followers
}
