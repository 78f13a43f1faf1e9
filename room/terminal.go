package room

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/time/rate"
)

// terminal is a visitor's, at the other end of a channel.
type terminal struct {
	channel ssh.Channel
	conn    io.Closer
	limits  Limits
	input   *rate.Limiter

	asked       bool // for, with pty-req
	environment []string

	mu            sync.Mutex
	width, height int
	resized       chan struct{} // that the size is another one
	over          chan struct{} // closed when the client asks for nothing more
	ended         sync.Once
	stalled       atomic.Bool
}

func newTerminal(channel ssh.Channel, l Limits, conn io.Closer) *terminal {
	return &terminal{
		channel: channel, conn: conn, limits: l, input: rate.NewLimiter(l.Input, 32<<10),
		width: 80, height: 24, resized: make(chan struct{}, 1), over: make(chan struct{}),
	}
}

// request takes in a pty-req. No terminal of this machine is behind it.
func (t *terminal) request(payload []byte) bool {
	var p struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}
	if ssh.Unmarshal(payload, &p) != nil || t.asked {
		return false
	}
	t.asked = true
	t.environment = append(t.environment, "TERM="+plainWord(p.Term))
	t.setSize(p.Columns, p.Rows)
	return true
}

// setenv takes in a variable, if it says something of the terminal's colours.
func (t *terminal) setenv(payload []byte) bool {
	var p struct{ Name, Value string }
	if ssh.Unmarshal(payload, &p) != nil || p.Name != "COLORTERM" && p.Name != "NO_COLOR" || len(t.environment) > 8 {
		return false
	}
	t.environment = append(t.environment, p.Name+"="+plainWord(p.Value))
	return true
}

// plainWord is what of a client's word can name a terminal.
func plainWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.+", r) {
			return r
		}
		return -1
	}, s[:min(len(s), 64)])
}

// resize takes in a window-change. However often one comes, only the newest counts.
func (t *terminal) resize(payload []byte) bool {
	var p struct{ Columns, Rows, Width, Height uint32 }
	if ssh.Unmarshal(payload, &p) != nil {
		return false
	}
	t.setSize(p.Columns, p.Rows)
	select {
	case t.resized <- struct{}{}:
	default:
	}
	return true
}

func (t *terminal) setSize(columns, rows uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if columns > 0 {
		t.width = int(min(columns, maxWidth))
	}
	if rows > 0 {
		t.height = int(min(rows, maxHeight))
	}
}

func (t *terminal) size() (width, height int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.width, t.height
}

// gone says that the client asks for nothing more.
func (t *terminal) gone() { close(t.over) }

// typing reads what a visitor types.
type typing struct {
	*terminal
	visitor *Visitor
}

func (t typing) Read(p []byte) (int, error) {
	n, err := t.channel.Read(p[:min(len(p), t.input.Burst())])
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
func (t *terminal) Write(p []byte) (int, error) {
	late := time.AfterFunc(t.limits.Stall, func() {
		t.stalled.Store(true)
		_ = t.conn.Close()
	})
	defer late.Stop()
	if _, err := t.channel.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end says some last words and how it ended: 0 well, 1 not.
func (t *terminal) end(status uint32, words string) {
	t.ended.Do(func() {
		if words != "" {
			_, _ = t.Write([]byte(words + "\n"))
		}
		_, _ = t.channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
		_ = t.channel.Close()
	})
}

// follow hands on the sizes that the terminal takes, not too many a second, until ctx ends.
func (t *terminal) follow(ctx context.Context, resize func(width, height int)) {
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
