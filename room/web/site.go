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

// Config configures the page.
type Config struct {
	// TLS serves the page over HTTPS. Nil serves plain HTTP.
	TLS *tls.Config
	// Kiosk admits everybody as a visitor without a name or a code, and lets other pages embed this
	// one in a frame.
	Kiosk bool
	// Notes waits until the speaker notes differ from shown and returns them, or an error when ctx
	// ends. The page shows them at /notes to users with the teacher's code. Nil disables that.
	Notes func(ctx context.Context, shown string) (string, error)
}

// Site serves the page of a room.
type Site struct {
	config     Config
	files      map[string]file // by path
	notesPages atomic.Int32    // connected
	http       *http.Server
}

type file struct {
	mediaType     string
	text, gzipped []byte
}

const (
	requestTimeout = 10 * time.Second // per request; the response has twice that
	maxHeader      = 8 << 10          // bytes
)

// New returns a site. Its ServeConn method is the Handler of a room.Listener.
func New(c Config) (*Site, error) {
	s := &Site{config: c, files: make(map[string]file)}
	err := fs.WalkDir(static, "static", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := static.ReadFile(at)
		if err != nil {
			return err
		}
		s.files[strings.TrimPrefix(at, "static")], err = newFile(at, text)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("can't load the page: %w", err)
	}
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: requestTimeout, ReadTimeout: requestTimeout, WriteTimeout: 2 * requestTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0), // the room logs, at a limited rate
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			if encrypted, ok := conn.(*tls.Conn); ok {
				conn = encrypted.NetConn()
			}
			return context.WithValue(ctx, connKey{}, conn.(*httpConn))
		},
	}
	return s, nil
}

// newFile compresses a file once for all requests.
func newFile(at string, text []byte) (file, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		return file{}, err
	}
	if err := w.Close(); err != nil {
		return file{}, err
	}
	mediaType := map[string]string{".mjs": "text/javascript; charset=utf-8", ".js": "text/javascript; charset=utf-8"}[path.Ext(at)]
	if mediaType == "" {
		mediaType = mime.TypeByExtension(path.Ext(at))
	}
	if mediaType == "" {
		mediaType = "text/plain; charset=utf-8"
	}
	return file{mediaType, text, b.Bytes()}, nil
}

// connKey is the context key of a request's httpConn.
type connKey struct{}

// httpConn is a connection of the room that is served over HTTP.
type httpConn struct {
	net.Conn
	room         *room.Conn
	ctx          context.Context // of the room
	authDeadline time.Time
	once         sync.Once
	closed       chan struct{}
}

// Close implements net.Conn.
func (c *httpConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// singleListener is a listener with one connection.
type singleListener struct {
	*httpConn
	conns chan net.Conn
}

// Accept implements net.Listener. After the one connection, it blocks until that is closed.
func (l singleListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (l singleListener) Addr() net.Addr { return l.LocalAddr() }

// Close implements net.Listener. It leaves the connection open.
func (l singleListener) Close() error { return nil }

// ServeConn is the room.Handler for browsers. The page asks for the code before it opens a WebSocket.
func (s *Site) ServeConn(ctx context.Context, c *room.Conn) {
	deadline, err := c.SetHandshakeDeadline()
	if err != nil {
		return
	}
	conn := &httpConn{Conn: c.NetConn(), room: c, ctx: ctx, authDeadline: deadline, closed: make(chan struct{})}
	l := singleListener{conn, make(chan net.Conn, 1)}
	if l.conns <- conn; s.config.TLS != nil {
		_ = s.http.Serve(tls.NewListener(l, s.config.TLS)) // returns when the connection is closed
		return
	}
	_ = s.http.Serve(l)
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn := r.Context().Value(connKey{}).(*httpConn)
	conn.room.HandshakeDone()
	nonce := rand.Text()
	s.setHeaders(w.Header(), nonce)
	w.Header().Set("Connection", "close") // a user reading the page must not hold a pending connection
	at := r.URL.Path
	hasNotes := s.config.Notes != nil && !s.config.Kiosk
	switch {
	case at == "/room":
		s.serveTerminal(w, r, conn)
		return
	case at == "/speaker" && hasNotes:
		s.serveNotes(w, r, conn)
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
		http.Error(w, "Only GET and HEAD are allowed.", http.StatusMethodNotAllowed)
	case !ok:
		http.Error(w, "Not found: the room is at /.", http.StatusNotFound)
	default:
		s.serveFile(w, r, f, nonce)
	}
}

// setHeaders makes the browser load nothing from other hosts and run only this page's scripts and styles.
func (s *Site) setHeaders(h http.Header, nonce string) {
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

// serveFile serves a file. HTML gets the nonce and whether this is a kiosk.
func (s *Site) serveFile(w http.ResponseWriter, r *http.Request, f file, nonce string) {
	w.Header().Set("Content-Type", f.mediaType)
	text := f.text
	switch {
	case strings.HasPrefix(f.mediaType, "text/html"):
		text = bytes.ReplaceAll(text, []byte("{{nonce}}"), []byte(nonce))
		text = bytes.ReplaceAll(text, []byte("{{kiosk}}"), fmt.Append(nil, s.config.Kiosk))
	case strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"):
		w.Header().Set("Content-Encoding", "gzip")
		text = f.gzipped
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}
