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

// Visitor is a person in the room, who may be a teacher. The model reports their progress with
// SetPlace and RecordPrediction.
type Visitor struct {
	room *Room
	id   uint64
	login
	name   string
	ctx    context.Context
	cancel context.CancelFunc

	inputBytes atomic.Int64
	lastActive atomic.Int64 // Unix nanoseconds
	wasActive  atomic.Bool  // since joining
	memory     atomic.Int64 // bytes, as the model reports them

	// Changed by Room.update only.
	place     string
	following bool
	token     string // with which they can return; "" if they got none

	slowRequested chan struct{}
	leaveOnce     sync.Once
	leaving       chan struct{} // closed by leave
	goodbye       string
}

// Name returns the visitor's name, which is unique in the room.
func (v *Visitor) Name() string { return v.name }

// Teacher reports whether the visitor is a teacher.
func (v *Visitor) Teacher() bool { return v.teacher }

// Context returns a context that ends when the visitor leaves.
func (v *Visitor) Context() context.Context { return v.ctx }

// leave ends the session with a message, which may be empty. Later calls do nothing.
func (v *Visitor) leave(message string) {
	v.leaveOnce.Do(func() {
		v.goodbye = message
		close(v.leaving)
	})
}

// isLeaving reports whether leave was called.
func (v *Visitor) isLeaving() bool {
	select {
	case <-v.leaving:
		return true
	default:
		return false
	}
}

// slow requests that the model grow more slowly.
func (v *Visitor) slow() {
	select {
	case v.slowRequested <- struct{}{}:
	default: // already requested
	}
}

func (v *Visitor) noteActivity() {
	v.lastActive.Store(time.Now().UnixNano())
	v.wasActive.Store(true)
}

// idle returns the time since the last activity.
func (v *Visitor) idle() time.Duration { return time.Since(time.Unix(0, v.lastActive.Load())) }

// checkName rejects names that would garble a list: invisible and right-to-left characters.
func checkName(name string) error {
	for _, r := range name {
		if p, _ := bidi.LookupRune(r); p.Class() == bidi.R || p.Class() == bidi.AL || p.Class() == bidi.AN {
			return errors.New("right-to-left names can't be shown here: use another name")
		}
		if unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			return errors.New("the name contains invisible characters: use another name")
		}
	}
	return nil
}

// maxName is the maximum length of a name in characters.
const maxName = 16

// cleanName reduces a user name to letters, digits, dashes, underscores and dots.
func cleanName(user string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(user, ""))
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[:maxName])
	}
	return cmp.Or(strings.Trim(name, "-_."), "somebody")
}

// login is an authenticated user.
type login struct {
	user    string // as the client sent it
	source  string // see sourceOf
	key     string // see Identity.Key
	code    string // see Conn.code
	teacher bool
	ping    func(context.Context) bool // see Conn.ping
}

// displayName returns the requested name.
func (l login) displayName() string { return cleanName(l.user) }

// join adds a visitor and, if they can use one, gives them a token. The error is one sentence for the user.
func (r *Room) join(l login, id Identity) (*Visitor, error) {
	if err := checkName(l.displayName()); err != nil {
		return nil, err
	}
	if !l.teacher && r.config.Limits.outOfMemory() {
		return nil, errors.New("the room is out of memory: try again when somebody has left")
	}
	v := &Visitor{room: r, login: l, place: "just joined", leaving: make(chan struct{}), slowRequested: make(chan struct{}, 1)}
	v.lastActive.Store(time.Now().UnixNano())
	v.ctx, v.cancel = context.WithCancel(context.Background())
	var err error
	r.update(func(r *Room) {
		if err = r.admit(l); err != nil {
			return
		}
		r.sequence++
		v.id, v.name = r.sequence, r.uniqueName(l.displayName())
		r.visitors[v.id] = v
		if id.OnJoin != nil {
			r.issueToken(RoomToken, id, l.source, v)
		}
	})
	if err != nil {
		v.cancel()
		return nil, err
	}
	return v, nil
}

// uniqueName returns name, with a number appended if it is in use.
func (r *Room) uniqueName(name string) string {
	used := make(map[string]bool, len(r.visitors))
	for _, v := range r.visitors {
		used[v.name] = true
	}
	for n, try := 2, name; ; n++ {
		if !used[try] {
			return try
		}
		try = fmt.Sprintf("%s-%d", name, n)
	}
}

// remove removes a visitor, and ends their share if they have one. Their predictions stay, and their token if they lost
// their connection.
func (r *Room) remove(v *Visitor, lost bool) {
	v.leave("")
	v.cancel()
	r.lastLeft.Store(time.Now().UnixNano())
	r.update(func(r *Room) {
		delete(r.visitors, v.id)
		r.leaveToken(v, lost)
		if s, _ := r.share.get(); s.by == v.id {
			r.share.set(share{number: s.number})
		}
	})
}

// update runs change under the lock and publishes a new snapshot to the teachers.
func (r *Room) update(change func(*Room)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
	s := &snapshot{tallies: r.tallies}
	for _, v := range r.visitors {
		s.people = append(s.people, person{v.name, v.place, v.teacher, v.following, v.id})
	}
	slices.SortFunc(s.people, func(a, b person) int { return cmp.Compare(a.id, b.id) })
	r.snapshots.set(s)
}

// snapshot is the state of the room at one moment.
type snapshot struct {
	people  []person // in the order in which they joined
	tallies []tally
}

// person is a visitor or teacher in a snapshot.
type person struct {
	name, place        string
	teacher, following bool
	id                 uint64
}

// visitors counts the people who are not teachers, and how many of them follow.
func (s *snapshot) visitors() (all, followers int) {
	for _, p := range s.people {
		if !p.teacher {
			all++
			if p.following {
				followers++
			}
		}
	}
	return all, followers
}
