package room

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Terminal is a visitor's, with a client at the other end.
type Terminal struct {
	client      Client
	limits      Limits
	input       *rate.Limiter
	environment []string

	mu            sync.Mutex
	width, height int
	resized       chan struct{} // that the size is another one
	over          chan struct{} // closed when the client asks for nothing more
	ended         sync.Once
	stalled       atomic.Bool
}

// NewTerminal is the terminal of a client, 80 by 24 until it says otherwise. environment is what of it tells which
// terminal it is: TERM and COLORTERM.
func (c *Caller) NewTerminal(client Client, environment ...string) *Terminal {
	l := c.room.config.Limits
	return &Terminal{
		client: client, limits: l, input: rate.NewLimiter(l.Input, 32<<10), environment: environment,
		width: 80, height: 24, resized: make(chan struct{}, 1), over: make(chan struct{}),
	}
}

// Resize has the terminal be of another size, in cells. However often that comes, only the newest counts. 0 is as before, and
// what is too large for a screen is cut.
func (t *Terminal) Resize(columns, rows uint32) {
	t.setSize(columns, rows)
	select {
	case t.resized <- struct{}{}:
	default:
	}
}

func (t *Terminal) setSize(columns, rows uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if columns > 0 {
		t.width = int(min(columns, maxWidth))
	}
	if rows > 0 {
		t.height = int(min(rows, maxHeight))
	}
}

func (t *Terminal) size() (width, height int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.width, t.height
}

// Gone says that the client asks for nothing more. It is called once.
func (t *Terminal) Gone() { close(t.over) }

// typing reads what a visitor types.
type typing struct {
	*Terminal
	visitor *Visitor
}

func (t typing) Read(p []byte) (int, error) {
	n, err := t.client.Read(p[:min(len(p), t.input.Burst())])
	if n > 0 {
		if t.visitor.typed.Add(int64(n)) > t.limits.Typed {
			t.visitor.leave("You have typed more than the room takes from one visitor: come in again.")
			return 0, io.EOF
		}
		if waiting := t.input.WaitN(t.visitor.ctx, n); waiting != nil && err == nil {
			err = waiting
		}
	}
	if err != nil {
		t.visitor.leave("") // they have hung up
	}
	return n, err
}

// errStalled is why a client that reads nothing is left.
var errStalled = errors.New("its screen was not read")

// Write implements io.Writer. There is no line discipline at the other end: a newline becomes a carriage return
// and a newline. A client that does not read is left after a while.
func (t *Terminal) Write(p []byte) (int, error) {
	late := time.AfterFunc(t.limits.Stall, func() {
		t.stalled.Store(true)
		_ = t.client.Close()
	})
	defer late.Stop()
	if _, err := t.client.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end says some last words and parts, well or not.
func (t *Terminal) end(well bool, words string) {
	t.ended.Do(func() {
		if words != "" {
			_, _ = t.Write([]byte(words + "\n"))
		}
		t.client.Part(well)
	})
}

// follow hands on the sizes that the terminal takes, not too many a second, until ctx ends.
func (t *Terminal) follow(ctx context.Context, resize func(width, height int)) {
	for {
		select {
		case <-t.resized:
			resize(t.size())
		case <-ctx.Done():
			return
		}
		wait(ctx, time.Second/resizes)
	}
}
