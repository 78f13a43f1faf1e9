package lessons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// Plan is a lesson with the moments of its steps. It is immutable.
type Plan struct {
	Lesson *Lesson
	Steps  []Planned
	// Warnings are findings of Check that an author should look at, each with the file's name and
	// the line.
	Warnings []string

	recording *sources.Recording
}

// Planned is the place of a step in time.
type Planned struct {
	// From is the place the step starts at, To where it ends. They are equal without a prediction.
	From, To Place
	// Why explains the outcome of a prediction in sentences, with the arithmetic.
	Why []string
}

// Place is a moment and the last move at that moment that has happened.
type Place struct {
	// At is the time since the start of the scenario.
	At time.Duration
	// Until is the last move that has happened. The zero value means all moves at that moment.
	Until Move
}

// epsilon is shorter than the time between two moments.
const epsilon = time.Microsecond

// GoTo moves a session of the lesson to the place.
func (p Place) GoTo(s *session.Session, start time.Time) {
	if p.Until.text == "" {
		s.Seek(start.Add(p.At))
		return
	}
	s.Seek(start.Add(p.At - epsilon))
	s.Find(p.Until.condition, true)
}

// Open returns a session at the start of the lesson.
func (p *Plan) Open(opts timeline.Options) *session.Session { return p.Lesson.open(p.recording, opts) }

// open returns a session at the start of rec.
func (l *Lesson) open(rec *sources.Recording, opts timeline.Options) *session.Session {
	named := *rec
	named.Name = l.Title
	opts.Paused = true
	return session.New(&named, opts)
}

// Options returns the options for sessions of lessons. Sessions may share them.
func Options() (timeline.Options, error) {
	plugins, err := cycle.InTree()
	return timeline.Options{Plugins: plugins, Paused: true}, err
}

// Plan plays the lesson and finds its steps. It fails if a move does not come or the right answer
// of a prediction differs from the model. Errors are one sentence with the file's name and the
// line.
func (l *Lesson) Plan(ctx context.Context, opts timeline.Options) (*Plan, error) {
	return l.run(ctx, opts, false)
}

// Check does what Plan does, runs the solutions and asserts the claims. It also fails if a solution
// does not reach its goal, a claim does not hold, or a text does not fit on a small screen.
func (l *Lesson) Check(ctx context.Context, opts timeline.Options) (*Plan, error) {
	if err := l.checkRelease(); err != nil {
		return nil, err
	}
	for i := range l.Steps {
		if err := l.checkLength(&l.Steps[i]); err != nil {
			return nil, err
		}
	}
	p, err := l.run(ctx, opts, true)
	if err != nil {
		return nil, err
	}
	p.Warnings = append(p.Warnings, p.warnUnbacked()...)
	return p, l.assert(ctx, opts)
}

// run plays the lesson, including its goals if goals is true.
func (l *Lesson) run(ctx context.Context, opts timeline.Options, goals bool) (*Plan, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, playTimeout, errTooLong)
	defer cancel()
	rec, err := l.recording(ctx)
	if err != nil {
		return nil, err
	}
	s := l.open(rec, opts)
	go s.Run(ctx)
	p := &Plan{Lesson: l, recording: rec}
	w := &walk{Lesson: l, ctx: ctx, session: s, warn: func(warnings []string) { p.Warnings = append(p.Warnings, warnings...) }}
	for i := range l.Steps {
		planned, err := w.step(&l.Steps[i])
		if err != nil {
			return nil, err
		}
		p.Steps = append(p.Steps, planned)
		if g := l.Steps[i].Goal; g != nil && goals {
			if err := w.reach(g); err != nil {
				return nil, err
			}
			planned.From.GoTo(s, l.Scenario.Start)
		}
	}
	return p, nil
}

// walk plays a lesson step by step.
type walk struct {
	*Lesson
	ctx     context.Context
	session *session.Session
	at      Place
	said    uint64
	warn    func([]string)
}

// playTimeout limits the real time for playing a lesson.
const playTimeout = time.Minute

var errTooLong = fmt.Errorf("playing it takes longer than %s: its scenario is too large or too long", playTimeout)

// sync waits until the session has processed all commands. It returns the session's refusal, if
// any.
func (w *walk) sync() (f *session.Frame, refused string, err error) {
	ready := make(chan *session.Frame, 1)
	go func() { ready <- w.session.Sync() }()
	select {
	case f = <-ready:
	case <-w.ctx.Done():
	}
	switch err := context.Cause(w.ctx); {
	case errors.Is(err, errTooLong):
		return nil, "", fmt.Errorf("%s: %w", w.File, err)
	case err != nil:
		return nil, "", err
	}
	if f.Reply.Number != w.said && f.Reply.Refused {
		refused = f.Reply.Text
	}
	w.said = f.Reply.Number
	return f, refused, nil
}

// step goes to a step and plays its prediction.
func (w *walk) step(s *Step) (Planned, error) {
	start := w.Scenario.Start
	switch {
	case s.At >= 0:
		w.at = Place{At: s.At}
		w.at.GoTo(w.session, start)
	case s.Until.text != "":
		if err := w.find(s.Until); err != nil {
			return Planned{}, err
		}
	}
	from, _, err := w.sync()
	if err != nil {
		return Planned{}, err
	}
	planned := Planned{From: w.at, To: w.at}
	if s.Look.Name != "" && from.Board.Get(s.Look) == nil && s.Goal == nil && s.Prediction == nil {
		return Planned{}, w.errorf(s.Line, "there is no pod %s at %s", s.Look, w.at.At)
	}
	p := s.Prediction
	if p == nil {
		return planned, nil
	}
	if p.Finding {
		return w.finding(s, planned)
	}
	if p.After > 0 {
		w.at = Place{At: w.at.At + p.After}
		if w.at.At > w.Scenario.End {
			return planned, w.errorf(p.Line, "after %s it is %s, but the scenario ends at %s", p.After, w.at.At, w.Scenario.End)
		}
		w.at.GoTo(w.session, start)
	} else if err := w.find(p.Until); err != nil {
		return planned, err
	}
	planned.To = w.at
	to, _, err := w.sync()
	if err != nil {
		return planned, err
	}
	o := outcome{prediction: p, took: planned.To.At - planned.From.At, from: from, to: to}
	planned.Why = o.why()
	w.warn(w.shownAlready(o))
	for _, a := range p.Asks {
		if err := w.checkAsk(a, o); err != nil {
			return planned, err
		}
	}
	return planned, nil
}

// find goes forward to a move.
func (w *walk) find(m Move) error {
	w.session.Find(m.condition, true)
	f, refused, err := w.sync()
	if err != nil {
		return err
	}
	if refused != "" {
		return w.errorf(m.line, "no move after %s matches %q", w.at.At, m.text)
	}
	w.at = Place{At: f.Now.Sub(w.Scenario.Start), Until: m}
	return nil
}

// outcome is the result of a prediction.
type outcome struct {
	prediction *Prediction
	took       time.Duration
	from, to   *session.Frame
}

// move returns the move that ended the prediction, or nil if it ended by time.
func (o outcome) move() *board.Transition {
	if o.prediction.After > 0 || o.to.Log.Len() == 0 {
		return nil
	}
	return o.to.Log.At(o.to.Log.Len() - 1)
}

// why explains the result.
func (o outcome) why() []string {
	if slices.ContainsFunc(o.prediction.Asks, func(a Ask) bool { return a.Kind == AskWoken }) {
		return o.whyWoken()
	}
	m := o.move()
	if m == nil {
		if p := o.to.Board.Get(o.prediction.Pod); p != nil {
			return o.to.Explain(p)
		}
		return nil
	}
	return o.to.Why(m)
}

// tier returns the pod's tier at the end.
func (o outcome) tier() queue.Tier {
	if m := o.move(); m != nil && m.Pod.Key == o.prediction.Pod {
		return m.To
	}
	if p := o.to.Board.Get(o.prediction.Pod); p != nil {
		return p.Tier
	}
	return queue.None
}

// backoff returns the length of the pod's backoff, from its last failure.
func backoff(f *session.Frame, pod types.NamespacedName) (time.Duration, bool) {
	p := f.Board.Get(pod)
	if p == nil || p.BackoffExpiry.IsZero() {
		return 0, false
	}
	for m := p.Last; m != nil; m = m.Prev() {
		if m.Event == queue.ScheduleAttemptFailure {
			return p.BackoffExpiry.Sub(m.Time), true
		}
	}
	return 0, false
}

// woken returns the moves that took pods out of the unschedulable and gated pods, the first for
// each pod.
func (o outcome) woken() []*board.Transition {
	var moves []*board.Transition
	pods := map[types.NamespacedName]bool{}
	for i := o.from.Log.Len(); i < o.to.Log.Len(); i++ {
		m := o.to.Log.At(i)
		if isWoken(m) && !pods[m.Pod.Key] {
			pods[m.Pod.Key] = true
			moves = append(moves, m)
		}
	}
	return moves
}

// isWoken reports whether the move takes a pod from the unschedulable or gated pods to be tried
// again.
func isWoken(m *board.Transition) bool {
	return (m.From == queue.Unschedulable || m.From == queue.Gated) && (m.To == queue.Active || m.To == queue.Backoff)
}

// whyWoken says which pods were woken, by which event, and after how long.
func (o outcome) whyWoken() []string {
	moves := o.woken()
	if len(moves) == 0 {
		return []string{"No pod was woken."}
	}
	var all []string
	for _, m := range moves {
		said := m.Pod.Key.Name
		if prev := m.Prev(); prev != nil {
			said += " after " + m.Time.Sub(prev.Pod.Since).Round(time.Second).String()
		}
		all = append(all, said)
	}
	return []string{fmt.Sprintf("%s woke %s.", moves[0].Event, strings.Join(all, ", "))}
}

// checkAsk returns an error unless the right answer matches the model.
func (w *walk) checkAsk(a Ask, o outcome) error {
	right := a.Answers[a.Right()]
	wrong := func(is string) error {
		return w.errorf(right.Line, "%s is not the right answer to %s: in the model it is %s", right.Text, a.Kind, is)
	}
	switch a.Kind {
	case AskQueue:
		if is := o.tier(); is != right.tier {
			return wrong(is.String())
		}
	case AskWhen:
		distance := func(b Answer) time.Duration { return (b.time - o.took).Abs() }
		nearest := slices.MinFunc(a.Answers, func(a, b Answer) int { return int(distance(a) - distance(b)) })
		if !nearest.Right || distance(right) > max(500*time.Millisecond, o.took/10) {
			return wrong(o.took.Round(10 * time.Millisecond).String())
		}
	case AskBackoff:
		is, ok := backoff(o.from, o.prediction.Pod)
		if !ok {
			return w.errorf(right.Line, "%s has no backoff at that time", o.prediction.Pod)
		}
		if (is - right.time).Abs() > 10*time.Millisecond {
			return wrong(is.Round(time.Millisecond).String())
		}
	case AskWhich:
		m := o.move()
		if m == nil {
			return w.errorf(right.Line, "which needs until: it asks for the pod that moves")
		}
		if key, _ := podNamed(string(right.Text)); key != m.Pod.Key {
			return wrong(m.Pod.Key.String())
		}
	case AskWoken:
		if is := len(o.woken()); is != right.number {
			return wrong(fmt.Sprint(is))
		}
	case AskAttempts:
		p := o.to.Board.Get(o.prediction.Pod)
		if p == nil {
			return w.errorf(right.Line, "there is no pod %s at that time", o.prediction.Pod)
		}
		if p.Attempts != right.number {
			return wrong(fmt.Sprint(p.Attempts))
		}
	}
	return nil
}
