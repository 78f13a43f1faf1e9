package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/schedq/schedq/sources"
)

// reviews are the only requests besides GET. They check permissions and change nothing.
var reviews = [...]string{
	"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
	"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
}

// readOnly forwards requests that only read, and refuses all others before they leave the process. It follows no
// redirect, so credentials are sent to no other host, and limits the size of responses. It is the innermost transport:
// every request passes through it.
type readOnly struct {
	next    http.RoundTripper
	answers *answers
}

// answers limits the total size of the responses in progress: see bounded.
type answers struct {
	largest int64
	reading atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (t readOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	if !isRead(req) {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, fmt.Errorf("schedq only reads: it refuses to send %s %s", sources.Sanitize(req.Method), sources.Sanitize(req.URL.Path))
	}
	waiting := newWaiting(req.Context())
	answer, err := t.next.RoundTrip(req.WithContext(waiting.ctx))
	if err != nil {
		defer waiting.end()
		return nil, waiting.cause(err)
	}
	waiting.ReadCloser, answer.Body = answer.Body, waiting
	if answer.StatusCode >= 300 && answer.StatusCode < 400 && answer.Header.Get("Location") != "" {
		to := "an invalid URL"
		if location, err := answer.Location(); err == nil {
			to = string(sources.Sanitize(location.Host))
		}
		answer.Body.Close()
		return nil, fmt.Errorf("the response is a redirect to %s, which schedq does not follow", to)
	}
	if answer.StatusCode == http.StatusOK && !accepts(req, answer) {
		answer.Body.Close() // client-go leaves it open
		return nil, fmt.Errorf("the response is %s instead of an API object: check for a proxy or a login page", sources.Sanitize(answer.Header.Get("Content-Type")))
	}
	noteRetryAfter(req.Context(), answer, time.Now())
	if query := req.URL.Query(); query.Get("watch") != "" || query.Get("follow") != "" { // these have no time limit
		waiting.timer.Stop()
		waiting.unlimited = true
	} else {
		answer.Body = &bounded{ReadCloser: answer.Body, all: t.answers, json: strings.Contains(answer.Header.Get("Content-Type"), "json")}
	}
	return answer, nil
}

// errSilent means that no data of a response arrived for maxDelay. kube-apiserver ends a request after a minute, but a
// request to a hanging proxy or a dead server would never end.
var errSilent = fmt.Errorf("no data received for %s", maxDelay)

// waitingBody is a response that is cancelled if no data arrives for maxDelay.
type waitingBody struct {
	io.ReadCloser
	ctx       context.Context
	end       context.CancelFunc
	timer     *time.Timer
	over      atomic.Bool
	unlimited bool
}

func newWaiting(ctx context.Context) *waitingBody {
	p := &waitingBody{}
	p.ctx, p.end = context.WithCancel(ctx)
	p.timer = time.AfterFunc(maxDelay, func() {
		p.over.Store(true)
		p.end()
	})
	return p
}

// cause returns errSilent if that is why a request failed with err.
func (p *waitingBody) cause(err error) error {
	if err != nil && err != io.EOF && p.over.Load() {
		return errSilent
	}
	return err
}

// Read implements io.Reader.
func (p *waitingBody) Read(data []byte) (int, error) {
	n, err := p.ReadCloser.Read(data)
	if !p.unlimited && !p.over.Load() {
		p.timer.Reset(maxDelay)
	}
	return n, p.cause(err)
}

// Close implements io.Closer.
func (p *waitingBody) Close() error {
	p.timer.Stop()
	defer p.end()
	return p.ReadCloser.Close()
}

// accepts reports whether answer has a media type that req accepts.
func accepts(req *http.Request, answer *http.Response) bool {
	asked, given := req.Header.Get("Accept"), answer.Header.Get("Content-Type")
	if asked == "" || given == "" {
		return true
	}
	given, _, _ = mime.ParseMediaType(given)
	for one := range strings.SplitSeq(asked, ",") {
		one, _, _ = strings.Cut(strings.TrimSpace(one), ";")
		if one == given || one == anyType {
			return true
		}
	}
	return false
}

// anyType matches all media types. acceptText is the Accept header of requests for text, as in kubectl.
const (
	anyType    = "*/*"
	acceptText = "application/json, */*"
)

// bounded limits the size of a response, together with the others in progress: bytes after decompression and, in JSON,
// objectCost for each object, because an object of two bytes takes a thousand in memory.
type bounded struct {
	io.ReadCloser
	all  *answers
	json bool
	read int64
}

const objectCost = 256

// cost returns the cost of the text of a response.
func cost(text []byte, json bool) int64 {
	n := int64(len(text))
	if json {
		n += objectCost * int64(bytes.Count(text, []byte("{")))
	}
	return n
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	took := cost(p[:n], b.json)
	b.read += took
	if b.all.reading.Add(took) > b.all.largest {
		return 0, tooLarge{b.all.largest}
	}
	return n, err
}

// Close implements io.Closer.
func (b *bounded) Close() error {
	b.all.reading.Add(-b.read)
	b.read = 0
	return b.ReadCloser.Close()
}

// tooLarge is the error of a response that exceeds the limit.
type tooLarge struct{ largest int64 }

func (e tooLarge) Error() string {
	return fmt.Sprintf("the responses in progress are larger than %d MiB: --memory allows more", e.largest>>20)
}

// isRead reports whether req can't change anything. A GET that upgrades the protocol could: exec, attach and
// port-forward start with one.
func isRead(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet:
		return req.Header.Get("Upgrade") == ""
	case http.MethodPost:
		for _, path := range reviews {
			if req.URL.Path == path {
				return true
			}
		}
	}
	return false
}

// WrappedRoundTripper implements k8s.io/apimachinery/pkg/util/net.RoundTripperWrapper.
func (t readOnly) WrappedRoundTripper() http.RoundTripper { return t.next }
