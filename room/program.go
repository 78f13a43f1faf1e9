package room

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/time/rate"
)

// frameRate is how many times per second a terminal is drawn.
const frameRate = 20

// quitTimeout is how long a program has to quit before its context is cancelled.
const quitTimeout = 2 * time.Second

// run shows a visitor their screen until they leave. It returns a last message for them, which may
// be empty, and the reason.
func (r *Room) run(v *Visitor, t *Terminal) (message string, reason error) {
	inner, err := r.open(v)
	if err != nil {
		return sentence(err), err
	}
	s := newScreen(v, inner)
	width, height := t.size()
	program := tea.NewProgram(s,
		tea.WithContext(v.ctx), tea.WithInput(silence{v.ctx}), tea.WithOutput(t), tea.WithoutSignalHandler(),
		tea.WithEnvironment(t.environment), tea.WithColorProfile(colorprofile.Env(t.environment)),
		tea.WithWindowSize(width, height), tea.WithFPS(frameRate), tea.WithFilter(r.filter(v)))

	ctx, cancel := context.WithCancel(v.ctx)
	defer cancel()
	go readInput(ctx, inputReader{t, v}, t.term(), func(e uv.Event) { program.Send(e) })
	go t.followSize(ctx, func(w, h int) { program.Send(tea.WindowSizeMsg{Width: w, Height: h}) })
	go r.watch(ctx, v, t)
	go func() {
		for {
			select {
			case <-v.slowRequested:
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
		timer := time.AfterFunc(quitTimeout, v.cancel)
		defer timer.Stop()
		program.Quit()
		<-ctx.Done()
	}()

	_, err = program.Run()
	message, reason = s.outcome(err)
	if reason == nil && v.isLeaving() {
		reason = errDisconnected
	}
	v.leave("")
	if v.goodbye != "" {
		return v.goodbye, errors.New(v.goodbye)
	}
	return message, cmp.Or(reason, errQuit)
}

// readInput passes what a terminal sends to send, until ctx ends or the terminal is gone. A program's own reader would
// wait for ever to hand over what came while the program ended.
func readInput(ctx context.Context, input io.Reader, term string, send func(uv.Event)) {
	events := make(chan uv.Event)
	go func() {
		defer close(events)
		_ = uv.NewTerminalReader(input, term).StreamEvents(ctx, events) // inputReader acts on the error
	}()
	for e := range events {
		send(e)
	}
}

// silence is the input of a program whose input is sent: it has none until ctx ends.
type silence struct{ ctx context.Context }

// Read implements io.Reader.
func (s silence) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, io.EOF
}

// Reasons for leaving, for the log.
var (
	errQuit         = errors.New("quit")
	errDisconnected = errors.New("disconnected")
	errUnresponsive = errors.New("client stopped responding")
)

// open creates the visitor's model. A panic ends this session only.
func (r *Room) open(v *Visitor) (model tea.Model, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("opening a screen panicked", "panic", p, "stack", string(debug.Stack()))
			err = errors.New("schedq crashed, and the room's log has the details")
		}
	}()
	return r.config.Open(v)
}

// watch ends the session when the client disconnects or the visitor is idle for too long.
func (r *Room) watch(ctx context.Context, v *Visitor, t *Terminal) {
	for {
		left := r.config.Limits.Idle - v.idle()
		if left <= 0 && !v.teacher {
			v.leave(fmt.Sprintf("You were inactive for %s: join again to continue.", r.config.Limits.Idle))
			return
		}
		timer := time.NewTimer(max(left, time.Second))
		select {
		case <-timer.C:
		case <-t.disconnected:
			v.leave("")
		case <-ctx.Done():
		}
		timer.Stop()
		if v.isLeaving() || ctx.Err() != nil {
			return
		}
	}
}

// execMsg is the type of the message with which a model starts a program.
var execMsg = reflect.TypeOf(tea.Exec(nil, nil)())

// filter drops messages that would affect this machine, whatever the model does: suspending would
// stop the whole process, and Exec starts a program. It also drops keys above the rate limit.
func (r *Room) filter(v *Visitor) func(tea.Model, tea.Msg) tea.Msg {
	keys := rate.NewLimiter(r.config.Limits.KeyRate, int(2*r.config.Limits.KeyRate))
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
		if reflect.TypeOf(msg) == execMsg {
			return nil
		}
		return msg
	}
}
