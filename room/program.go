package room

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/time/rate"
)

// frameRate is how often a second a terminal is written to at the most.
const frameRate = 20

// politeness is how long a screen has to end before it is taken away.
const politeness = 2 * time.Second

// run shows a visitor their screen until they leave. It returns what to say to them afterwards, and why it is over.
func (r *Room) run(v *Visitor, t *Terminal) (said string, why error) {
	inner, err := r.open(v)
	if err != nil {
		return sentence(err), err
	}
	s := newScreen(v, inner)
	width, height := t.size()
	program := tea.NewProgram(s,
		tea.WithContext(v.ctx), tea.WithInput(typing{t, v}), tea.WithOutput(t), tea.WithoutSignalHandler(),
		tea.WithEnvironment(t.environment), tea.WithColorProfile(colorprofile.Env(t.environment)),
		tea.WithWindowSize(width, height), tea.WithFPS(frameRate), tea.WithFilter(r.filter(v)))

	ctx, cancel := context.WithCancel(v.ctx)
	defer cancel()
	go t.follow(ctx, func(w, h int) { program.Send(tea.WindowSizeMsg{Width: w, Height: h}) })
	go r.watch(ctx, v, t)
	go func() {
		for {
			select {
			case <-v.slowing:
				program.Send(slowMsg{})
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() {
		select {
		case <-v.leaving:
		case <-ctx.Done():
			return
		}
		late := time.AfterFunc(politeness, v.cancel)
		defer late.Stop()
		program.Quit()
		<-ctx.Done()
	}()

	_, err = program.Run()
	said, why = s.outcome(err)
	if why == nil && v.isLeaving() {
		why = errHungUp
	}
	v.leave("")
	if v.goodbye != "" {
		return v.goodbye, errors.New(v.goodbye)
	}
	return said, cmp.Or(why, errQuit)
}

// Why somebody leaves, for the log.
var (
	errQuit   = errors.New("they quit")
	errHungUp = errors.New("they hung up")
	errSilent = errors.New("it did not answer whether it is there")
)

// open makes what the visitor sees. A mistake in that is theirs alone.
func (r *Room) open(v *Visitor) (model tea.Model, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("a screen could not be opened", "panic", p, "stack", string(debug.Stack()))
			err = errors.New("schedq made a mistake, and what it was is in the room's log")
		}
	}()
	return r.config.Open(v)
}

// watch sends a visitor out who hangs up or does nothing for too long.
func (r *Room) watch(ctx context.Context, v *Visitor, t *Terminal) {
	for {
		left := r.config.Limits.Idle - v.idle()
		if left <= 0 && !v.teacher {
			v.leave(fmt.Sprintf("You did nothing for %s, so your seat is free for somebody else: come in again.", r.config.Limits.Idle))
			return
		}
		timer := time.NewTimer(max(left, time.Second))
		select {
		case <-timer.C:
		case <-t.over:
			v.leave("")
		case <-ctx.Done():
		}
		timer.Stop()
		if v.isLeaving() || ctx.Err() != nil {
			return
		}
	}
}

// runsProgram is the message with which a model would have a program of this machine run.
var runsProgram = reflect.TypeOf(tea.Exec(nil, nil)())

// filter keeps from a visitor's program what would reach this machine, whatever the model does: suspending would
// stop the whole process, and Exec runs another. It also drops keys that come faster than anybody types.
func (r *Room) filter(v *Visitor) func(tea.Model, tea.Msg) tea.Msg {
	keys := rate.NewLimiter(r.config.Limits.Keys, int(2*r.config.Limits.Keys))
	return func(_ tea.Model, msg tea.Msg) tea.Msg {
		switch msg.(type) {
		case tea.SuspendMsg:
			return nil
		case tea.KeyMsg, tea.MouseMsg, tea.PasteMsg:
			if !keys.Allow() {
				return nil
			}
			v.noteActivity()
		}
		if reflect.TypeOf(msg) == runsProgram {
			return nil
		}
		return msg
	}
}
