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

// run watches one resource until ctx ends, or until the server responds that it does not serve it.
func (s *store) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &lister{store: s, kind: s.kind, source: s.source, giveUp: cancel, retries: newRetries()}
	r := cache.NewReflectorWithOptions(l, s.kind.example, s, cache.ReflectorOptions{Name: s.kind.name, Backoff: &backoff, Clock: endingClock{ctx: ctx}})
	for relisted := false; ctx.Err() == nil; {
		l.expired.Store(false)
		_ = r.ListAndWatchWithContext(ctx) // the lister records the error
		// RunWithContext would always wait. But a server that responds that a version has expired is available again, maybe
		// after a long time.
		if relisted = l.expired.Load() && !relisted; !relisted {
			l.retries.backOff(ctx)
		}
	}
}

// lister lists and watches one resource, and records the state.
type lister struct {
	store   *store
	kind    *resource
	source  *Source
	giveUp  context.CancelFunc
	retries *retries
	pages   int         // of the list so far
	watched time.Time   // start of the last watch
	expired atomic.Bool // the version from which it was to continue
}

// shortWatch is how long a watch must last for the next one to start without a delay. The reflector delays only after
// watches that deliver nothing.
const shortWatch = time.Second

// maxPages limits the pages of a list, because a server may return "continue" without end. Chosen: five million objects
// at 500 each do not fit into memory.
const maxPages = 10_000

// request returns a request for the resource, after the server's retry time. client-go's retries wait for it too, but
// without reporting it.
func (l *lister) request(ctx context.Context, opts *metav1.ListOptions) *rest.Request {
	l.retries.await(ctx)
	opts.FieldSelector = l.kind.selector
	return l.kind.client.Get().Namespace(l.kind.namespace).Resource(l.kind.name).
		VersionedParams(opts, parameters).MaxRetries(0)
}

// List and Watch implement cache.ListerWatcher. The reflector calls the variants with a context.
func (l *lister) List(opts metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), opts)
}

// Watch implements cache.ListerWatcher: see List.
func (l *lister) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), opts)
}

// ListWithContext implements cache.ListerWatcherWithContext: one page, if the server does not stream lists.
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
		if err == nil { // in place, so that the items don't stay in memory until the last page
			reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(kept).Elem())
		}
		l.source.streamed(l.kind)
		return l.store.take(kept)
	})
}

// checkPage returns an error if list, the response to opts, is a page of an endless list.
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
	listing := opts.SendInitialEvents != nil && *opts.SendInitialEvents // the list is streamed
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
		// client-go v0.37 returns this if a connection ended before the server responded (rest/request.go, Watch). The
		// reflector would list again; after a refused connection it continues from its version.
		return nil, fmt.Errorf("the connection ended: %w", syscall.ECONNREFUSED)
	}
	l.source.watched(l.kind)
	return noteWatch(w, 0, ended, failed, came), nil
}

// isFresh reports whether opts requests the newest state, which can't have expired.
func isFresh(opts *metav1.ListOptions) bool {
	return (opts.ResourceVersion == "" || opts.ResourceVersion == "0") && opts.Continue == ""
}

// failed records that a request or its watch failed, and returns the error for the reflector. An expected end, or an
// error that a fresh list fixes, is not recorded.
func (l *lister) failed(ctx context.Context, err error, fresh bool) error {
	expired := apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
	if expired && !fresh {
		l.expired.Store(true)
	}
	switch {
	case ctx.Err() != nil, (errors.Is(err, io.EOF) || expired) && !fresh:
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		// The server can't stream lists; the reflector then requests pages.
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
		return errors.New(err.Error()) // otherwise the reflector would stream the list again without a delay
	}
	return err
}
