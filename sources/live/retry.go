package live

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
)

// maxDelay is the longest delay between two attempts at a request, whatever Retry-After the server sends. Chosen: schedq
// resumes within 30 s of the cluster's return.
const maxDelay = 25 * time.Second

// backoff is client-go's backoff for reflectors (tools/cache/reflector.go) with a lower cap: with jitter it stays below
// maxDelay.
var backoff = wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 10, Cap: maxDelay / 2}

// backoffReset is the time after which the backoff is reset, as in client-go.
const backoffReset = 2 * time.Minute

// retries delays requests that failed: longer with each failure, and until the time that the server names.
type retries struct {
	delay wait.DelayFunc

	mu        sync.Mutex
	notBefore time.Time
}

func newRetries() *retries {
	return &retries{delay: backoff.DelayWithReset(clock.RealClock{}, backoffReset)}
}

// retryAfterKey is the context key of a *retries.
type retryAfterKey struct{}

// noting returns a context that makes r record the Retry-After headers of its requests.
func (r *retries) noting(ctx context.Context) context.Context {
	return context.WithValue(ctx, retryAfterKey{}, r)
}

// note records the retry time of err, if it has one.
func (r *retries) note(err error) {
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		r.noteDelay(time.Duration(seconds) * time.Second)
	}
}

func (r *retries) noteDelay(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if until := time.Now().Add(min(d, maxDelay)); until.After(r.notBefore) {
		r.notBefore = until
	}
}

// await waits until the server's retry time, or until ctx ends.
func (r *retries) await(ctx context.Context) { sleep(ctx, r.left()) }

// left returns the time until the server's retry time.
func (r *retries) left() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Until(r.notBefore)
}

// backOff waits after a failure, or until ctx ends.
func (r *retries) backOff(ctx context.Context) { sleep(ctx, max(r.delay(), r.left())) }

func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// noteRetryAfter records the Retry-After header of a response, in seconds or as a date. kube-apiserver sends it with 429,
// and proxies with 503 (RFC 9110, 10.2.3).
func noteRetryAfter(ctx context.Context, answer *http.Response, now time.Time) {
	r, ok := ctx.Value(retryAfterKey{}).(*retries)
	if !ok || answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode < 500 {
		return
	}
	header := answer.Header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(header, 10, 32); err == nil {
		r.noteDelay(time.Duration(seconds) * time.Second)
	} else if at, err := http.ParseTime(header); err == nil {
		if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			now = date // the server's clock may differ
		}
		r.noteDelay(at.Sub(now))
	}
}

// endingClock is a clock whose waits end with ctx: after a refused streamed list, a reflector waits without a context.
type endingClock struct {
	clock.RealClock
	ctx context.Context
}

// After implements clock.Clock.
func (c endingClock) After(d time.Duration) <-chan time.Time {
	after := make(chan time.Time, 1)
	ctx, cancel := context.WithTimeout(c.ctx, d)
	context.AfterFunc(ctx, func() {
		cancel()
		after <- time.Now()
	})
	return after
}
