package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/tls"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"log"
	"mime"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schedq/schedq/room"
)

//go:embed static
var static embed.FS

// Config says what a page is like.
type Config struct {
	// TLS is by which it is served. Nil is without.
	TLS *tls.Config
	// Kiosk lets everybody in without a name and a code, as visitors, and lets other pages hold this one in a frame.
	Kiosk bool
	// Notes waits until the speaker's notes are others than those that are shown, and returns them, or an error once ctx ends.
	// They are at /notes, for whoever has the teacher's code. Nil: there are none.
	Notes func(ctx context.Context, shown string) (string, error)
}

// Site is a room's page.
type Site struct {
	config  Config
	files   map[string]file // by their paths
	passes  passes          // of those in the room
	readers passes          // of those who read the notes, which let nobody into the room
	reading atomic.Int32    // how many do
	http    *http.Server
}

// file is what is served at a path.
type file struct {
	kind       string // its media type
	plain, zip []byte
}

// How long a browser may take over a request, and again over the answer, and how long the request may be, in bytes.
const (
	requestTime = 10 * time.Second
	maxHeader   = 8 << 10
)

// New returns a page, which is served by Welcome.
func New(c Config) (*Site, error) {
	s := &Site{config: c, files: make(map[string]file), passes: passes{byToken: make(map[string]pass)}, readers: passes{byToken: make(map[string]pass)}}
	err := fs.WalkDir(static, "static", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := static.ReadFile(at)
		if err != nil {
			return err
		}
		s.files[strings.TrimPrefix(at, "static")], err = packed(at, text)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the page can't be made: %w", err)
	}
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: requestTime, ReadTimeout: requestTime, WriteTimeout: 2 * requestTime,
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0), // what a crowd does is told by the room
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			if encrypted, ok := conn.(*tls.Conn); ok {
				conn = encrypted.NetConn()
			}
			return context.WithValue(ctx, callerKey{}, conn.(*called))
		},
	}
	return s, nil
}

// packed is a file, compressed once for all.
func packed(at string, text []byte) (file, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		return file{}, err
	}
	if err := w.Close(); err != nil {
		return file{}, err
	}
	kind := map[string]string{".mjs": "text/javascript; charset=utf-8", ".js": "text/javascript; charset=utf-8"}[path.Ext(at)]
	if kind == "" {
		kind = mime.TypeByExtension(path.Ext(at))
	}
	if kind == "" {
		kind = "text/plain; charset=utf-8"
	}
	return file{kind, text, b.Bytes()}, nil
}

// callerKey is where a request's context has who made it.
type callerKey struct{}

// called is a caller's connection while it is served.
type called struct {
	net.Conn
	caller *room.Caller
	ctx    context.Context // of the room
	until  time.Time       // when the code is to be said
	once   sync.Once
	closed chan struct{}
}

// Close implements net.Conn.
func (c *called) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// one is a listener with one connection.
type one struct {
	*called
	coming chan net.Conn
}

// Accept implements net.Listener: when the connection is closed, no other comes.
func (o one) Accept() (net.Conn, error) {
	select {
	case c := <-o.coming:
		return c, nil
	case <-o.closed:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (o one) Addr() net.Addr { return o.LocalAddr() }

// Close implements net.Listener: the connection may go on.
func (o one) Close() error { return nil }

// Welcome is the room.Protocol of browsers. The page asks for the code before it connects.
func (s *Site) Welcome(ctx context.Context, c *room.Caller) {
	until, err := c.Hurry()
	if err != nil {
		return
	}
	conn := &called{Conn: c.Conn(), caller: c, ctx: ctx, until: until, closed: make(chan struct{})}
	l := one{conn, make(chan net.Conn, 1)}
	if l.coming <- conn; s.config.TLS != nil {
		_ = s.http.Serve(tls.NewListener(l, s.config.TLS)) // it ends when the connection does
		return
	}
	_ = s.http.Serve(l)
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn := r.Context().Value(callerKey{}).(*called)
	conn.caller.Greeted()
	nonce := rand.Text()
	s.protect(w.Header(), nonce)
	w.Header().Set("Connection", "close") // who reads the page stands before no door; a WebSocket says otherwise
	at := r.URL.Path
	hasNotes := s.config.Notes != nil && !s.config.Kiosk
	switch {
	case at == "/room":
		s.visit(w, r, conn)
		return
	case at == "/speaker" && hasNotes:
		s.showNotes(w, r, conn)
		return
	case at == "/":
		at = "/page.html"
	case at == "/notes":
		at = "/notes.html"
	}
	f, ok := s.files[at]
	ok = ok && (hasNotes || !strings.HasPrefix(at, "/notes."))
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "This page is only looked at.", http.StatusMethodNotAllowed)
	case !ok:
		http.Error(w, "There is nothing here: the room is at /.", http.StatusNotFound)
	default:
		s.send(w, r, f, nonce)
	}
}

// protect has a browser load nothing from elsewhere, and run and draw nothing that is not this page's.
func (s *Site) protect(h http.Header, nonce string) {
	frames := "'none'"
	if s.config.Kiosk {
		frames = "*"
	}
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"+nonce+"'; connect-src 'self'; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors "+frames)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
}

// send sends a file. The page itself is told its nonce, and whether there is a form.
func (s *Site) send(w http.ResponseWriter, r *http.Request, f file, nonce string) {
	w.Header().Set("Content-Type", f.kind)
	text := f.plain
	switch {
	case strings.HasPrefix(f.kind, "text/html"):
		text = bytes.ReplaceAll(text, []byte("{{nonce}}"), []byte(nonce))
		text = bytes.ReplaceAll(text, []byte("{{kiosk}}"), fmt.Append(nil, s.config.Kiosk))
	case strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"):
		w.Header().Set("Content-Encoding", "gzip")
		text = f.zip
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}
