package room

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Caller is a connection that has come to a door. Before somebody is let in, only the goroutine of its Protocol uses it.
type Caller struct {
	room   *Room
	crowd  *crowd
	conn   net.Conn
	line   *guarded
	source string
	came   time.Time
	gone   chan struct{} // closed when it no longer is before the door
	tries  int           // at a code; only its own goroutine uses it
	stay   func() bool   // has the room not hang up at once when it closes

	// Of the crowd.
	greeted bool // the first words are exchanged: it is asked for a code
	waits   bool // for the answer to a wrong code
}

// Client is the other end of a connection that was let in, whatever is spoken on it. Read returns what is typed, as a
// terminal sends it, and Write writes what a terminal shows; Close hangs up at once, and what hangs in the other
// methods returns. All may be called from any goroutine.
type Client interface {
	io.ReadWriteCloser
	// Answers asks whether the client is there, and reports whether it says so before ctx ends.
	Answers(ctx context.Context) bool
	// Part ends it after its last words, well or because something is wrong.
	Part(well bool)
}

// Pass is what somebody is let in by.
type Pass struct {
	// Name is what they ask to be called, as they gave it.
	Name string
	// Key is what tells them from others by the same name, such as the fingerprint of a key. Empty if they came by a code.
	Key string
	// Teacher says whether they are one.
	Teacher bool
	// Seated, if not nil, is called with the name that they have in the room, before anything is shown.
	Seated func(name string)
}

// Conn is the connection, which reads no faster than its limit, and gives up on who does not read.
func (c *Caller) Conn() net.Conn { return c.line }

// Greeted notes that the first words are exchanged: who has said nothing makes room before who has.
func (c *Caller) Greeted() {
	c.crowd.mu.Lock()
	defer c.crowd.mu.Unlock()
	c.greeted = true
}

// Hurry has the caller be through with the first words in time: it returns until when the code is to be said.
func (c *Caller) Hurry() (until time.Time, err error) {
	limits := c.room.config.Limits
	return c.came.Add(limits.Grace), c.conn.SetReadDeadline(c.came.Add(min(limits.Greeting, limits.Grace)))
}

// LetIn takes the caller out of the crowd before the door: whoever is in is told when the room closes. A second time it does
// nothing.
func (c *Caller) LetIn() {
	c.stay()
	c.crowd.forget(c)
}

// The tries that one connection has at a code.
const codeTries = 3

// Why somebody is not let in by a code.
var (
	ErrWrongCode = errors.New("the room code is wrong")
	ErrTries     = fmt.Errorf("%d wrong room codes are enough", codeTries)
	ErrUnheard   = errors.New("too many wrong codes wait for an answer")
)

// Try counts a try at a code, before it is asked for. The error is ErrTries.
func (c *Caller) Try() error {
	if c.tries++; c.tries > codeTries {
		_ = c.conn.Close()
		return ErrTries
	}
	return nil
}

// Judge reports whether who says that code is a teacher. A wrong one it answers when its turn comes, by ErrWrongCode: all
// share one rate, since a whole room may come from one address; who says the right one does not wait. With ErrUnheard the
// code was not compared.
func (c *Caller) Judge(name, code string) (teacher bool, err error) {
	r := c.room
	name = nameOf(name)
	if !r.guesses.mayCompare(c.place(), c.crowd.teachers) {
		r.doorLog.warn("not heard: too many wrong codes wait", "from", c.source, "name", name)
		c.tries = codeTries
		return false, ErrUnheard
	}
	a := r.access() // which may be another since the question
	switch isTeacher, isVisitor := sameCode(code, a.TeacherCode), sameCode(code, a.Code); {
	case isTeacher:
		return true, nil
	case isVisitor && !c.crowd.teachers:
		return false, nil
	}
	r.log.Warn("wrong room code", "from", c.source, "name", name)
	c.awaitTurn()
	return false, ErrWrongCode
}

// awaitTurn waits until a wrong code is answered.
func (c *Caller) awaitTurn() {
	r := c.room
	turn := r.guesses.takeTurn(c.place())
	r.turnAway(c.crowd.setWaiting(c, true))
	defer func() { r.turnAway(c.crowd.setWaiting(c, false)) }()
	late := c.came.Add(r.config.Limits.Grace)
	if turn.After(late) {
		turn = late // hung up on, and the turn stays taken
	}
	answer := time.NewTimer(time.Until(turn))
	defer answer.Stop()
	select {
	case <-answer.C:
	case <-c.gone:
	}
}

// place is what a caller's wrong codes are counted by: those at the teacher's door are not taken for visitors'.
func (c *Caller) place() string {
	if c.crowd.teachers {
		return "the teacher's door, " + c.source
	}
	return c.source
}

// answerer is who can be asked whether they are there: see Client.
type answerer interface {
	Answers(ctx context.Context) bool
}

// KeepAsking asks the client every now and then whether it is there, until ctx ends, and hangs up if it does not answer: a
// laptop that was closed does not say so. name is for the log.
func (c *Caller) KeepAsking(ctx context.Context, client answerer, name string) {
	limits := c.room.config.Limits
	for {
		if wait(ctx, limits.Ping); ctx.Err() != nil {
			return
		}
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.Stall)
		is := c.answers(late, client)
		if late.Err() != nil && !is {
			c.room.log.Info("does not answer", "from", c.source, "name", nameOf(name))
		}
		if cancel(); !is {
			return
		}
	}
}

// answers asks the client once whether it is there, and reports whether it says so before ctx ends. One that does not is
// hung up on.
func (c *Caller) answers(ctx context.Context, client answerer) bool {
	if client.Answers(ctx) {
		return true
	}
	if ctx.Err() != nil {
		c.line.silent.Store(true)
		_ = c.line.Close()
	}
	return false
}

// Visit seats somebody who was let in and shows them their screen on t, until one of the two is over. It returns why.
func (c *Caller) Visit(ctx context.Context, p Pass, t *Terminal) (why error) {
	r := c.room
	g := guest{user: p.Name, source: c.source, key: p.Key, teacher: p.Teacher, answers: func(ctx context.Context) bool {
		return c.answers(ctx, t.client)
	}}
	r.giveUpLost(ctx, g)
	v, err := r.enter(g)
	if err != nil {
		r.log.Warn("turned away", "from", c.source, "name", g.login(), "error", err)
		t.end(false, sentence(err))
		return err
	}
	if p.Seated != nil {
		p.Seated(v.name)
	}
	came := time.Now()
	r.log.Info("came in", "name", v.name, "from", c.source, "teacher", v.teacher)
	stop := context.AfterFunc(ctx, func() { v.leave("The room is closed.") })
	defer stop()
	words, why := r.run(v, t)
	r.exit(v)
	switch {
	case t.stalled.Load() || c.line.stalled.Load():
		why = errStalled
	case c.line.silent.Load():
		why = errSilent
	}
	r.log.Info("left", "name", v.name, "after", time.Since(came).Round(time.Second), "why", why)
	t.end(words == "", words)
	return why
}

func sentence(err error) string { return fmt.Sprintf("Sorry: %s.", err) }
