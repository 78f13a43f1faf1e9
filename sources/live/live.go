// Package live watches a cluster through its API server: everything that kube-scheduler and its plugins read, and
// the scheduler's Events and lease. It is read-only by construction. Its events are trimmed, sanitised and bounded
// like those of a recording.
package live

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/attempts"
)

// Format is the format's name in sources.Recording.
const Format = "live"

// Options define what is watched.
type Options struct {
	// Name is what to call the cluster: its context in the kubeconfig.
	Name string
	// Namespace is the only namespace whose objects are read. Empty means all, as for the scheduler.
	Namespace string
	// LeaseNamespace and LeaseName identify the schedulers' leader election lease. Empty means kube-scheduler, in the
	// usual namespace in which Check finds it.
	LeaseNamespace, LeaseName string
	// MaxAnswer limits the responses in progress together, in bytes after decompression; one is a page of at most 500
	// objects. MaxList limits the memory of the listed objects of one kind, in bytes. 0 means the constant of that
	// name. Run ends with an error if a cluster exceeds a limit.
	MaxAnswer, MaxList int64
	// UserAgent is the User-Agent of the requests.
	UserAgent string
}

// The default limits, in bytes.
const (
	MaxAnswer = 256 << 20
	MaxList   = 1 << 30
)

// Source is a cluster that is watched. It is a sources.Stream.
type Source struct {
	opts     Options
	client   clients
	lease    leaseName
	plugin   *plugin // nil if the kubeconfig has none
	stores   []*store
	siblings *siblingSet

	mu       sync.Mutex         // guards what follows, and the stores' objects
	stop     context.CancelFunc // ends Run
	refused  error              // why Run was ended
	pending  []sources.Event
	watches  *watchSet
	attached time.Time
	leadership
	asked   bool   // the API server's release was requested
	serves  string // that release, or "" if unknown
	omitted int    // skipped objects
	notices []string
	outage
	delays Delays
	offset time.Duration // the clocks' offset that was emitted last
	speech
}

// outage is the state of an API server that does not respond.
type outage struct {
	silent time.Time            // since when the API server does not respond
	reason sources.SafeText     // why
	marked map[string]time.Time // resources marked as without updates, and since when
}

// speech is the output of the credential plugin.
type speech struct {
	said   []string
	spoken func(sentence string) // receives the output while the plugin may use the terminal
}

var _ sources.Stream = (*Source)(nil)

// New returns a source of the cluster of config. It sends no request and does not change config.
func New(config *rest.Config, opts Options) (*Source, error) {
	opts.MaxList = cmp.Or(opts.MaxList, MaxList)
	config = rest.CopyConfig(config)
	config.UserAgent = cmp.Or(opts.UserAgent, "schedq")
	config.Timeout = 0 // would end a watch; short requests have their own
	config.QPS, config.Burst = 50, 100
	config.AcceptContentTypes, config.ContentType = "application/vnd.kubernetes.protobuf,application/json", "application/json"
	config.WarningHandler = rest.NoWarnings{}
	under := &answers{largest: cmp.Or(opts.MaxAnswer, MaxAnswer)}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return readOnly{next, under} })
	httpClient, plugin, err := clientFor(config)
	if err != nil {
		return nil, Sentence(config.Host, err)
	}
	client, err := newClients(config, httpClient)
	if err != nil {
		return nil, Sentence(config.Host, err)
	}
	return newSource(client, plugin, opts), nil
}

// clientFor returns an HTTP client for config, and its credential plugin, or nil.
func clientFor(config *rest.Config) (*http.Client, *plugin, error) {
	var p *plugin
	if config.ExecProvider != nil {
		var err error
		if p, err = newPlugin(config); err != nil {
			return nil, nil, err
		}
		config.ExecProvider = nil
	}
	how, err := config.TransportConfig()
	if err != nil {
		return nil, nil, err
	}
	if p != nil && !p.use(how) {
		p = nil
	}
	via, err := transport.New(how)
	if err != nil {
		return nil, nil, err
	}
	return &http.Client{Transport: via}, p, nil
}

func newSource(client clients, plugin *plugin, opts Options) *Source {
	lease := leaseName{cmp.Or(opts.LeaseNamespace, usualLeases[0]), cmp.Or(opts.LeaseName, "kube-scheduler")}
	s := &Source{opts: opts, client: client, lease: lease, plugin: plugin, siblings: newSiblings()}
	var names []string
	for _, r := range resources(client, lease) {
		if r.namespaced {
			r.namespace = opts.Namespace
		}
		s.stores = append(s.stores, &store{source: s, kind: r, objects: map[types.NamespacedName]runtime.Object{}})
		names = append(names, r.name)
	}
	s.watches = newWatches(names...)
	if plugin != nil {
		plugin.say = s.onPluginOutput
	}
	return s
}

// Only returns a source of the same cluster that reads only one namespace. s must not be used afterwards.
func (s *Source) Only(namespace string) *Source {
	opts := s.opts
	opts.Namespace = namespace
	return newSource(s.client, s.plugin, opts)
}

// Name implements sources.Stream.
func (s *Source) Name() sources.SafeText { return sources.Sanitize(cmp.Or(s.opts.Name, "the cluster")) }

// Run implements sources.Stream.
func (s *Source) Run(ctx context.Context) error {
	// Without ctx's deadline: client-go would report it instead of the reason why lists fail.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	ctx = running
	s.mu.Lock()
	s.watches.Begin(time.Now())
	s.stop = stop
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, st := range s.stores {
		wg.Go(func() { st.run(ctx) })
	}
	wg.Go(func() { s.listen(ctx) })
	wg.Go(func() { s.noteRunning(ctx) })
	wg.Wait()
	s.client.closeIdle()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// refuse ends Run with err, the first time.
func (s *Source) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuseLocked(err)
}

// refuseLocked is refuse for callers that hold the lock.
func (s *Source) refuseLocked(err error) {
	if s.refused == nil {
		s.refused = err
		s.stop()
	}
}

// Take implements sources.Stream.
func (s *Source) Take() ([]sources.Event, sources.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.watches.Runs(now)
	status := s.status(now)
	s.noteLapse(now, status.StaleSince.IsZero())
	s.markSilence(now, status)
	events := s.pending
	s.pending = nil
	return events, status
}

// changed emits the change of an object. The lock is held.
func (s *Source) changed(now time.Time, verb sources.Verb, old, obj runtime.Object) {
	if s.attached.IsZero() {
		return // attach emits all objects together
	}
	switch o := obj.(type) {
	case *eventsv1.Event:
		before, _ := old.(*eventsv1.Event)
		pod, _ := s.store(pods).objects[types.NamespacedName{Namespace: o.Regarding.Namespace, Name: o.Regarding.Name}].(*corev1.Pod)
		if f, ok := failedAttempt(before, o); ok && verb != sources.Deleted && (pod == nil || attempts.BySchedulerOf(pod, o)) {
			s.onAttempt(now, f, o.EventTime.IsZero())
		}
		return
	case *coordinationv1.Lease:
		if at := renewed(o); verb == sources.Updated && !at.IsZero() && s.watches.Delivers(now, leases) {
			s.observeDelay(now, at, true)
		}
		if verb != sources.Deleted {
			s.onRenewal(now, o)
		}
		return
	}
	s.emit(now, &sources.ObjectChange{Verb: verb, Object: obj})
	if pod, ok := obj.(*corev1.Pod); ok && verb == sources.Updated {
		if before, _ := old.(*corev1.Pod); patched(before, pod) {
			s.emit(now, &sources.StatusPatched{Pod: keyOf(pod), UID: pod.UID})
		}
	}
}

func (s *Source) emit(now time.Time, f sources.Fact) {
	s.pending = append(s.pending, sources.Event{Time: now.UTC(), Fact: f})
}

// attach emits all objects. The lock is held.
func (s *Source) attach(now time.Time) {
	s.attached = now
	s.watches.Attached(now)
	for _, st := range s.stores {
		if st.kind.name == events || st.kind.name == leases {
			continue
		}
		for _, obj := range inOrder(st.objects) {
			s.emit(now, &sources.ObjectChange{Verb: sources.Added, Object: obj})
		}
	}
	waiting := func(name types.NamespacedName) *corev1.Pod {
		pod, _ := s.store(pods).objects[name].(*corev1.Pod)
		return pod
	}
	offset := s.delays.Offset(now)
	for _, t := range attempts.SumUp(s.knownEvents(), waiting) {
		t.First, t.Failed = t.First.Add(offset), t.Failed.Add(offset)
		s.emit(now, t)
	}
	var began time.Time
	for _, obj := range s.store(leases).objects {
		s.leader, began = holder(obj), acquired(obj)
		s.onRenewal(now, obj.(*coordinationv1.Lease))
	}
	if release, from := s.release(); release != "" {
		s.emit(now, &sources.SchedulerRunning{Release: release, From: from})
	}
	if !began.IsZero() {
		began = began.Add(offset)
	}
	s.emit(now, &sources.Attached{Began: began, Nodes: s.watches.State(nodes) == sources.ResourceWatched})
}

// knownEvents yields the listed Events.
func (s *Source) knownEvents() iter.Seq[*eventsv1.Event] {
	return func(yield func(*eventsv1.Event) bool) {
		for _, obj := range s.store(events).objects {
			if !yield(obj.(*eventsv1.Event)) {
				return
			}
		}
	}
}

// inOrder returns objects in the order in which the scheduler may have received them: the oldest first.
func inOrder(objects map[types.NamespacedName]runtime.Object) []runtime.Object {
	list := make([]runtime.Object, 0, len(objects))
	for _, obj := range objects {
		list = append(list, obj)
	}
	slices.SortFunc(list, func(a, b runtime.Object) int {
		ma, mb := a.(metav1.Object), b.(metav1.Object)
		return cmp.Or(ma.GetCreationTimestamp().Compare(mb.GetCreationTimestamp().Time),
			cmp.Compare(ma.GetNamespace(), mb.GetNamespace()), cmp.Compare(ma.GetName(), mb.GetName()))
	})
	return list
}

func (s *Source) store(name string) *store {
	i := slices.IndexFunc(s.stores, func(st *store) bool { return st.kind.name == name })
	return s.stores[i]
}

// leftOut counts a skipped object, and adds one notice.
func (s *Source) leftOut(r *resource, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.omitted++; s.omitted == 1 {
		s.notices = append(s.notices, fmt.Sprintf("Skipped an object among the %s: %s.", r.name, err))
	}
}
