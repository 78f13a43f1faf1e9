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
	// atOnce is how many may fetch at a time. Each costs about a core while it lasts.
	atOnce = 2
	// mostQuery is how long what is asked for may be, in bytes.
	mostQuery = 256
	// stalled is for how long who fetches may take nothing.
	stalled = 30 * time.Second
)

// Handler serves stretches of the ring in a folder: GET ?from=&to=, as ring.Window has them. It answers on the loopback
// interface only, to requests with the token.
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
		http.Error(w, "recordings are served on the loopback interface only: kubectl port-forward leads there", http.StatusForbidden)
		return
	}
	if !h.token.isIn(req.Header.Get("Authorization")) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a recording is served to who has the recorder's token: --token-file", http.StatusUnauthorized)
		return
	}
	if req.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "a recording can be fetched with GET, and nothing else", http.StatusMethodNotAllowed)
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

// isLocal reports whether a request came to a loopback address, from one.
func isLocal(req *http.Request) bool {
	local, _ := req.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	host, _, err := net.SplitHostPort(req.RemoteAddr)
	if err != nil || local == nil {
		return false
	}
	remote := net.ParseIP(host)
	return local.IP.IsLoopback() && remote != nil && remote.IsLoopback()
}

// windowOf reads what is asked for. A + is one, as a person writes it: a time has no spaces at its begin.
func windowOf(query string) (w ring.Window, err error) {
	if len(query) > mostQuery {
		return w, fmt.Errorf("what is asked for is longer than %d bytes", mostQuery)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return w, fmt.Errorf("what is asked for is no query: ?from=-2h&to=%%2B5m")
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
			return w, fmt.Errorf("a recording has from and to, as in ?from=-2h&to=%%2B5m, and nothing else")
		}
	}
	return w, nil
}

// send sends what window cuts out. A trace that is cut off says of itself that it is.
func (h *handler) send(w http.ResponseWriter, req *http.Request, window ring.Window) {
	ctx := req.Context()
	r, err := ring.Open(ctx, h.folder)
	if err != nil {
		http.Error(w, "the ring holds nothing yet", http.StatusNotFound)
		return
	}
	first, last, err := r.Span(ctx)
	if err != nil {
		http.Error(w, "the ring can't be read, or holds nothing yet that is whole", http.StatusNotFound)
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
	out, err := trace.NewLasting(&patient{w, http.NewResponseController(w)})
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
	_ = out.Close() // who fetches has gone
}

// patient is an answer that waits for who fetches it, but not for long.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write implements io.Writer.
func (p *patient) Write(data []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(stalled)); err != nil {
		return 0, err
	}
	return p.ResponseWriter.Write(data)
}
