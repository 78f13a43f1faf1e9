package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/schedq/schedq/sources"
)

// retry is how long a reflector waits after a failure, longer with each. It is more eager than
// client-go's own: someone is watching, and what it asks for is little.
var retry = wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.5, Steps: 8, Cap: 5 * time.Second}

// run watches one resource until ctx ends, or until the server says that it does not serve it.
func (s *store) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	backoff := retry
	cache.NewReflectorWithOptions(&lister{kind: s.kind, source: s.source, giveUp: cancel}, s.kind.example, s,
		cache.ReflectorOptions{Name: s.kind.name, Backoff: &backoff}).RunWithContext(ctx)
}

// lister lists and watches one resource, and notes how that goes.
type lister struct {
	kind   *resource
	source *Source
	giveUp context.CancelFunc
	// notBefore is when the API server, which refused, wants to be asked again.
	notBefore time.Time
	taken     int64 // by the pages of a list so far, in bytes
}

// maxDelay bounds for how long a server that refused is left alone on its own request.
const maxDelay = 30 * time.Second

// request returns a request about the resource, after the time that the server asked for. client-go's own
// retries wait for that, too, but say nothing meanwhile.
func (l *lister) request(ctx context.Context, opts *metav1.ListOptions) *rest.Request {
	if wait := time.Until(l.notBefore); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
	opts.FieldSelector = l.kind.selector
	return l.kind.client.Get().Namespace(l.kind.namespace).Resource(l.kind.name).
		VersionedParams(opts, parameters).MaxRetries(0)
}

// List and Watch implement cache.ListerWatcher. The reflector calls those with a context.
func (l *lister) List(opts metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), opts)
}

// Watch implements cache.ListerWatcher: see List.
func (l *lister) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), opts)
}

// ListWithContext implements cache.ListerWatcherWithContext: one page, where the server streams no lists.
func (l *lister) ListWithContext(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	if opts.Limit > 0 && opts.ResourceVersion == "0" {
		opts.ResourceVersion = "" // a server that streams no lists may ignore the limit otherwise
	}
	list, err := l.request(ctx, &opts).Do(ctx).Get()
	if err != nil {
		l.failed(ctx, err)
		return nil, err
	}
	if opts.Continue == "" {
		l.taken = 0
	}
	return list, meta.EachListItem(list, func(obj runtime.Object) error {
		kept, err := trim(obj)
		if err == nil { // in its place, so that a page's items don't all wait for the last page
			reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(kept).Elem())
		}
		l.source.streamed(l.kind)
		return l.source.room(l.kind, &l.taken, kept)
	})
}

// WatchWithContext implements cache.ListerWatcherWithContext.
func (l *lister) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	listing := opts.SendInitialEvents != nil && *opts.SendInitialEvents // the list is on its way
	l.source.ended(l.kind)                                              // nothing is heard while the API server is asked
	w, err := l.request(ctx, &opts).Watch(ctx)
	if err != nil {
		l.failed(ctx, err)
		return nil, err
	}
	if listing {
		return l.noted(w), nil
	}
	if reflect.TypeOf(w) == reflect.TypeOf(watch.NewEmptyWatch()) {
		// That is what client-go v0.37 makes of a connection that ended before the server answered (rest/request.go,
		// Watch). The reflector would list anew after it; after a connection that was refused it goes on where it was.
		return nil, fmt.Errorf("the connection ended: %w", syscall.ECONNREFUSED)
	}
	l.source.watched(l.kind)
	return l.noted(w), nil
}

// noted returns w, whose end the source learns.
func (l *lister) noted(w watch.Interface) watch.Interface {
	return noteWatch(w, func() { l.source.ended(l.kind) })
}

// failed notes that a request failed. What ends by itself, or what a fresh list makes good, is no trouble.
func (l *lister) failed(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil, errors.Is(err, io.EOF), apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		return
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		// The server does not know how to stream a list; the reflector then asks for pages.
		return
	case apierrors.IsNotFound(err):
		l.source.unavailable(l.kind, sources.ResourceNotServed, err)
		l.giveUp()
	case apierrors.IsForbidden(err) && !l.source.hadRights(l.kind):
		l.source.unavailable(l.kind, sources.ResourceForbidden, err)
	case errors.As(err, new(tooLarge)):
		l.source.refuse(fmt.Errorf("the list of %s can't be read: %w", l.kind.name, Sentence("", err)))
	default:
		if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
			l.notBefore = time.Now().Add(min(time.Duration(seconds)*time.Second, maxDelay))
		}
		l.source.failed(l.kind, err)
	}
}
