package remote

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/schedq/schedq/sources/ring"
	"github.com/schedq/schedq/sources/trace"
)

const (
	// atOnce limits the concurrent clients. Each uses about one core.
	atOnce = 2
	// mostQuery limits the length of a query, in bytes.
	mostQuery = 256
	// stalled is how long a client may read nothing.
	stalled = 30 * time.Second
)

// Handler serves parts of the ring in a folder: GET ?from=&to=, as in ring.Window. It accepts only requests on the
// loopback interface with the token.
func Handler(folder string, token Token) http.Handler {
	return &handler{folder, token, make(chan struct{}, atOnce)}
}

type handler struct {
	folder string
	token  Token
	busy   chan struct{}
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !isLocal(req) {
		http.Error(w, "recordings are served on the loopback interface only: use kubectl port-forward", http.StatusForbidden)
		return
	}
	if !h.token.isIn(req.Header.Get("Authorization")) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the recorder requires its token: use --token-file", http.StatusUnauthorized)
		return
	}
	if req.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET is allowed", http.StatusMethodNotAllowed)
		return
	}
	window, err := windowOf(req.URL.RawQuery)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case h.busy <- struct{}{}:
		defer func() { <-h.busy }()
	default:
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d recordings are being fetched, which is as many as may be at a time: try again", atOnce), http.StatusServiceUnavailable)
		return
	}
	h.send(w, req, window)
}

// isLocal reports whether both addresses of a request are loopback addresses.
func isLocal(req *http.Request) bool {
	local, _ := req.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	host, _, err := net.SplitHostPort(req.RemoteAddr)
	if err != nil || local == nil {
		return false
	}
	remote := net.ParseIP(host)
	return local.IP.IsLoopback() && remote != nil && remote.IsLoopback()
}

// windowOf parses a query. It keeps a + as it is, instead of decoding it as a space.
func windowOf(query string) (w ring.Window, err error) {
	if len(query) > mostQuery {
		return w, fmt.Errorf("the query is longer than %d bytes", mostQuery)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return w, fmt.Errorf("invalid query: use ?from=-2h&to=%%2B5m")
	}
	for name, texts := range values {
		text := texts[0]
		if after, spaced := strings.CutPrefix(text, " "); spaced {
			text = "+" + after
		}
		switch {
		case len(texts) > 1:
			return w, fmt.Errorf("%s is there twice", name)
		case name == "from":
			w.From = text
		case name == "to":
			w.To = text
		default:
			return w, fmt.Errorf("invalid query: use only from and to, as in ?from=-2h&to=%%2B5m")
		}
	}
	return w, nil
}

// send sends the part of the ring in window. A truncated trace is recognisable as such.
func (h *handler) send(w http.ResponseWriter, req *http.Request, window ring.Window) {
	ctx := req.Context()
	r, err := ring.Open(ctx, h.folder)
	if err != nil {
		http.Error(w, "the ring is empty", http.StatusNotFound)
		return
	}
	first, last, err := r.Span(ctx)
	if err != nil {
		http.Error(w, "the ring can't be read, or contains no complete segment yet", http.StatusNotFound)
		return
	}
	from, to, err := window.Resolve("", first, last)
	switch {
	case errors.Is(err, ring.ErrOutside):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/zstd")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=\"recording-%s.jsonl.zst\"", from.UTC().Format("20060102T150405Z")))
	out, err := trace.NewLasting(&deadlineWriter{w, http.NewResponseController(w)})
	if err != nil {
		return
	}
	for ev, err := range r.Events(ctx, ring.ReadOptions{From: from, To: to}) {
		if err == nil {
			err = out.Write(ev)
		}
		if err != nil {
			return
		}
	}
	_ = out.Close() // the client has disconnected
}

// deadlineWriter is a response writer with a deadline for each write.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write implements io.Writer.
func (p *deadlineWriter) Write(data []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(stalled)); err != nil {
		return 0, err
	}
	return p.ResponseWriter.Write(data)
}
