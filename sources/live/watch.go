package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/schedq/schedq/sources"
)

// run watches one resource until ctx ends, or until the server says that it does not serve it.
func (s *store) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &lister{store: s, kind: s.kind, source: s.source, giveUp: cancel, retries: newRetries()}
	r := cache.NewReflectorWithOptions(l, s.kind.example, s, cache.ReflectorOptions{Name: s.kind.name, Backoff: &backoff, Clock: endingClock{ctx: ctx}})
	for relisted := false; ctx.Err() == nil; {
		l.expired.Store(false)
		_ = r.ListAndWatchWithContext(ctx) // the lister notes why it failed
		// RunWithContext would wait in any case. But a server that says that a version has expired is there, and may have been away
		// for long.
		if relisted = l.expired.Load() && !relisted; !relisted {
			l.retries.backOff(ctx)
		}
	}
}

// lister lists and watches one resource, and notes how that goes.
type lister struct {
	store   *store
	kind    *resource
	source  *Source
	giveUp  context.CancelFunc
	retries *retries
	pages   int         // of the list so far
	watched time.Time   // when a watch began last
	expired atomic.Bool // the version from which it was to go on has
}

// shortWatch is how long a watch lasts at the least before the next one begins without a delay. The reflector delays only the one
// after a watch that delivers nothing.
const shortWatch = time.Second

// maxPages limits the pages of a list: five million objects at 500 each are more than fit into memory. A server that says
// "continue" for ever ends there.
const maxPages = 10_000

// request returns a request about the resource, after the time that the server asked for. client-go's own
// retries wait for that, too, but say nothing meanwhile.
func (l *lister) request(ctx context.Context, opts *metav1.ListOptions) *rest.Request {
	l.retries.await(ctx)
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
	var list runtime.Object
	err := errSilent
	for errors.Is(err, errSilent) { // the reflector would wait once more
		if list, err = l.request(ctx, &opts).Do(l.retries.noting(ctx)).Get(); err == nil {
			err = l.checkPage(&opts, list)
		}
		if err != nil {
			err = l.failed(ctx, err, isFresh(&opts))
		}
	}
	if err != nil {
		return nil, err
	}
	return list, meta.EachListItem(list, func(obj runtime.Object) error {
		kept, err := trim(obj)
		if err == nil { // in its place, so that a page's items don't all wait for the last page
			reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(kept).Elem())
		}
		l.source.streamed(l.kind)
		return l.store.take(kept)
	})
}

// checkPage returns an error if list, which opts asked for, is a page of a list that does not end.
func (l *lister) checkPage(opts *metav1.ListOptions, list runtime.Object) error {
	m, err := meta.ListAccessor(list)
	if err != nil {
		return err
	}
	if opts.Continue == "" {
		l.store.taken, l.pages = 0, 0
	}
	next := m.GetContinue()
	if l.pages++; next != "" && (next == opts.Continue || l.pages >= maxPages) {
		return fmt.Errorf("the list does not end: page %d continues at %.40q", l.pages, next)
	}
	return nil
}

// WatchWithContext implements cache.ListerWatcherWithContext.
func (l *lister) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	listing := opts.SendInitialEvents != nil && *opts.SendInitialEvents // the list is on its way
	l.source.ended(l.kind, true)                                        // no events arrive while the list is requested again
	if time.Since(l.watched) < shortWatch {
		l.retries.backOff(ctx)
	}
	var w watch.Interface
	err := errSilent
	for errors.Is(err, errSilent) { // the reflector would wait once more
		if w, err = l.request(ctx, &opts).Watch(l.retries.noting(ctx)); err != nil {
			err = l.failed(ctx, err, isFresh(&opts))
		}
	}
	if err != nil {
		return nil, err
	}
	l.watched = time.Now()
	ended := func() { l.source.ended(l.kind, ctx.Err() != nil) }
	failed := func(err error) { _ = l.failed(ctx, err, isFresh(&opts)) }
	came := func(obj runtime.Object) {
		if reflect.TypeOf(obj) != reflect.TypeOf(l.kind.example) { // the reflector skips it
			l.source.leftOut(l.kind, fmt.Errorf("it is a %s", strings.TrimPrefix(reflect.TypeOf(obj).String(), "*")))
		}
	}
	if listing {
		l.store.taken = 0
		return noteWatch(w, maxDelay, ended, failed, came), nil
	}
	if reflect.TypeOf(w) == reflect.TypeOf(watch.NewEmptyWatch()) {
		// That is what client-go v0.37 makes of a connection that ended before the server answered (rest/request.go,
		// Watch). The reflector would list anew after it; after a connection that was refused it goes on where it was.
		return nil, fmt.Errorf("the connection ended: %w", syscall.ECONNREFUSED)
	}
	l.source.watched(l.kind)
	return noteWatch(w, 0, ended, failed, came), nil
}

// isFresh reports whether opts asks for the newest state, which can't have expired.
func isFresh(opts *metav1.ListOptions) bool {
	return (opts.ResourceVersion == "" || opts.ResourceVersion == "0") && opts.Continue == ""
}

// failed notes that a request failed, or the watch that it began, and returns the error for the reflector. What ends by itself, or
// what a fresh list makes good, is no trouble.
func (l *lister) failed(ctx context.Context, err error, fresh bool) error {
	expired := apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
	if expired && !fresh {
		l.expired.Store(true)
	}
	switch {
	case ctx.Err() != nil, (errors.Is(err, io.EOF) || expired) && !fresh:
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		// The server does not know how to stream a list; the reflector then asks for pages.
	case apierrors.IsNotFound(err) && !l.source.isLost(l.kind, false):
		l.source.unavailable(l.kind, sources.ResourceNotServed, err)
		l.giveUp()
	case apierrors.IsForbidden(err) && !l.source.isLost(l.kind, true):
		l.source.unavailable(l.kind, sources.ResourceForbidden, err)
	case errors.As(err, new(tooLarge)):
		l.source.refuse(fmt.Errorf("the list of %s can't be read: %w", l.kind.name, Sentence("", err)))
	default:
		l.retries.note(err)
		l.source.failed(l.kind, err)
	}
	if expired && fresh {
		return errors.New(err.Error()) // the reflector would stream the list anew without a delay
	}
	return err
}
