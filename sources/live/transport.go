package live

import (
	"fmt"
	"net/http"

	"github.com/schedq/schedq/sources"
)

// reviews are the only requests besides GET: they ask what the user may do, and change nothing.
var reviews = [...]string{
	"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
	"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
}

// readOnly lets through what only reads, and refuses everything else before it leaves the process. It is
// the innermost transport: whatever wraps it, and whoever makes a request, ends here.
type readOnly struct{ next http.RoundTripper }

func readOnlyTransport(next http.RoundTripper) http.RoundTripper { return readOnly{next} }

// RoundTrip implements http.RoundTripper.
func (t readOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	if !reads(req) {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, fmt.Errorf("schedq only reads: it refuses to send %s %s", sources.Sanitize(req.Method), sources.Sanitize(req.URL.Path))
	}
	return t.next.RoundTrip(req)
}

// reads reports whether req can't change anything. A GET that asks for another protocol could: exec,
// attach and port-forward begin like that.
func reads(req *http.Request) bool {
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
