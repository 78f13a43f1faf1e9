package room

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/time/rate"
)

// Terminal is the terminal of a visitor's client.
type Terminal struct {
	client      Client
	limits      Limits
	input       *rate.Limiter
	environment []string

	mu            sync.Mutex
	width, height int
	resized       chan struct{} // signals a new size
	disconnected  chan struct{} // closed by Disconnected
	ended         sync.Once
	stalled       atomic.Bool
}

// NewTerminal returns the terminal of a client, 80 by 24 until it is resized. environment describes
// it: TERM and COLORTERM.
func (c *Conn) NewTerminal(client Client, environment ...string) *Terminal {
	l := c.room.config.Limits
	return &Terminal{
		client: client, limits: l, input: rate.NewLimiter(l.InputRate, 32<<10), environment: environment,
		width: 80, height: 24, resized: make(chan struct{}, 1), disconnected: make(chan struct{}),
	}
}

// Resize sets the size in cells; 0 keeps the current value. The size is capped, and changes that
// come too fast are merged.
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
	if columns == 0 {
		columns = uint32(t.width)
	}
	if rows == 0 {
		rows = uint32(t.height)
	}
	t.width, t.height = t.limits.fit(columns, rows)
}

// term returns the value of TERM.
func (t *Terminal) term() string { return uv.Environ(t.environment).Getenv("TERM") }

func (t *Terminal) size() (width, height int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.width, t.height
}

// Disconnected reports that the client sends no more requests. Call it once.
func (t *Terminal) Disconnected() { close(t.disconnected) }

// inputReader reads a visitor's input within the limits.
type inputReader struct {
	*Terminal
	visitor *Visitor
}

func (r inputReader) Read(p []byte) (int, error) {
	n, err := r.client.Read(p[:min(len(p), r.input.Burst())])
	if n > 0 {
		if r.visitor.inputBytes.Add(int64(n)) > r.limits.MaxInput {
			r.visitor.leave("You exceeded the room's input limit: join again to continue.")
			return 0, io.EOF
		}
		if waitErr := r.input.WaitN(r.visitor.ctx, n); waitErr != nil && err == nil {
			err = waitErr
		}
	}
	if err != nil {
		r.visitor.leave("") // disconnected
	}
	return n, err
}

var errStalled = errors.New("client stopped reading")

// Write implements io.Writer. It converts newlines to CRLF, since the client has no line discipline,
// and closes a client that does not read.
func (t *Terminal) Write(p []byte) (int, error) {
	timer := time.AfterFunc(t.limits.StallTimeout, func() {
		t.stalled.Store(true)
		_ = t.client.Close()
	})
	defer timer.Stop()
	if _, err := t.client.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end writes a last message, unless it is empty, and ends the session. Later calls do nothing.
func (t *Terminal) end(ok bool, message string) {
	t.ended.Do(func() {
		if message != "" {
			_, _ = t.Write([]byte(message + "\n"))
		}
		t.client.End(ok)
	})
}

// followSize passes new sizes to resize, at most resizeRate per second, until ctx ends.
func (t *Terminal) followSize(ctx context.Context, resize func(width, height int)) {
	for {
		select {
		case <-t.resized:
			resize(t.size())
		case <-ctx.Done():
			return
		}
		wait(ctx, time.Second/resizeRate)
	}
}
