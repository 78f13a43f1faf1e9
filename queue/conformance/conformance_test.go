package conformance

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe" // for go:linkname, too

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	k8smetrics "k8s.io/component-base/metrics"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"github.com/schedq/schedq/queue"
)

// Upstream runs its two flushes with its own tickers. Here the sequence runs them.

//go:linkname flushBackoffQCompleted k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushBackoffQCompleted
func flushBackoffQCompleted(p *upstream.PriorityQueue, logger klog.Logger)

//go:linkname flushUnschedulableEntitiesLeftover k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulableEntitiesLeftover
func flushUnschedulableEntitiesLeftover(p *upstream.PriorityQueue, logger klog.Logger)

//go:linkname listInFlightEvents k8s.io/kubernetes/pkg/scheduler/backend/queue.(*activeQueue).listInFlightEvents
func listInFlightEvents(activeQ unsafe.Pointer) []any

var operations = flag.Int("operations", 30_000, "about how many operations to compare for each gate")

// usual is the typical number of operations in a sequence: rapid draws small numbers more often
// than large ones.
const usual = 40

// casts are numbers of pods in a sequence, with the maximum number of operations. Few pods interact
// often, one pod fails often in a row, and many pods make deep heaps.
var casts = []struct{ pods, longest int }{{6, 120}, {6, 120}, {2, 150}, {44, 400}}

// TestConformance draws sequences of calls, makes each call on both queues, and compares their
// complete state after every call.
func TestConformance(t *testing.T) {
	klog.SetLogger(klog.Logger{})
	metrics.Register()
	if err := flag.Set("rapid.checks", fmt.Sprint(*operations/usual)); err != nil {
		t.Fatal(err)
	}
	for _, gates := range []struct{ pop, groups bool }{{true, false}, {false, false}, {true, true}, {false, true}} {
		name := fmt.Sprintf("SchedulerPopFromBackoffQ=%v,GenericWorkload=%v", gates.pop, gates.groups)
		t.Run(name, func(t *testing.T) {
			if err := utilfeature.DefaultMutableFeatureGate.Set(name); err != nil {
				t.Fatal(err)
			}
			done, sequences, ended := 0, 0, map[string]int{}
			rapid.Check(t, func(t *rapid.T) {
				p := newPair(t, gates.pop, gates.groups)
				sequences++
				for range rapid.IntRange(1, p.longest).Draw(t, "operations") {
					if p.step(); p.parted != "" {
						ended[p.parted]++
						break
					}
					p.compare()
					done++
				}
				if p.parted == "" {
					p.compareCounters()
				}
				p.upstream.Close()
			})
			t.Logf("%d operations in %d sequences, no difference", done, sequences)
			for _, why := range slices.Sorted(maps.Keys(ended)) {
				t.Logf("%d sequences ended: %s", ended[why], why)
			}
		})
	}
}

// podName returns a, b, ... z, a1, b1 ...
func podName(i int) string {
	name := string(rune('a' + i%26))
	if i >= 26 {
		name += fmt.Sprint(i / 26)
	}
	return name
}

// pair is package queue's queue and upstream's, and the cluster around them.
type pair struct {
	*rapid.T
	ctx      context.Context
	logger   klog.Logger
	clock    *clocktesting.FakeClock
	plugins  *plugins
	informer interface {
		Add(any) error
		Update(any) error
		Delete(any) error
	}
	upstream *upstream.PriorityQueue
	ours     *queue.Queue
	pods     map[string]*v1.Pod                     // existing and unassigned
	older    map[types.UID]*v1.Pod                  // objects before their last update
	profiles []string                               // scheduler names of the pods
	inFlight map[types.UID]*framework.QueuedPodInfo // popped, and not done
	names    []string
	longest  int
	uids     int
	gauges   map[queue.Tier]k8smetrics.GaugeMetric
	trail    trail
	forks    forks
	script   []func() string // the calls, for the message of a failure
	groups   groups
	less     fwk.LessFunc
	spared   bool   // no calls with intended differences, so that most sequences run longer
	shuffled bool   // some pods moved in a map's order
	parted   string // name of the deviation that ended the sequence
}

func newPair(t *rapid.T, pop, groups bool) *pair {
	metrics.SchedulerQueueIncomingPods.Reset()
	cast := rapid.SampledFrom(casts).Draw(t, "cast")
	p := &pair{
		T: t, ctx: t.Context(), clock: clocktesting.NewFakeClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)),
		plugins: newPlugins(rapid.IntRange(0, 1000).Draw(t, "hints"), rapid.IntRange(0, 2).Draw(t, "hints look at pods") == 0),
		pods:    map[string]*v1.Pod{}, inFlight: map[types.UID]*framework.QueuedPodInfo{},
		older: map[types.UID]*v1.Pod{}, longest: cast.longest, trail: newTrail(),
		profiles: rapid.SampledFrom([][]string{profiles[:1], profiles}).Draw(t, "profiles"),
		spared:   rapid.IntRange(0, 9).Draw(t, "is spared") > 0,
		gauges:   gauges(),
	}
	for i := range cast.pods {
		p.names = append(p.names, podName(i))
	}
	for _, gauge := range p.gauges {
		gauge.Set(0)
	}
	p.logger = klog.FromContext(p.ctx)
	opts := queue.Defaults()
	opts.PopFromBackoffQ, opts.GenericWorkload = pop, groups
	opts.PodInitialBackoff = rapid.SampledFrom([]time.Duration{time.Second, time.Second, 300 * time.Millisecond, 7 * time.Second, 0}).Draw(t, "initial backoff")
	opts.PodMaxBackoff = rapid.SampledFrom([]time.Duration{10 * time.Second, 10 * time.Second, 3 * time.Second, time.Second, time.Hour, 1, 0}).Draw(t, "max backoff")
	opts.PodMaxInUnschedulablePods = rapid.SampledFrom([]time.Duration{5 * time.Minute, 5 * time.Minute, time.Second, 0}).Draw(t, "leftover")
	p.ours = queue.New(opts, p.plugins, &p.trail)

	client, err := kubernetes.NewForConfig(&rest.Config{}) // never used
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	p.informer = factory.Core().V1().Pods().Informer().GetIndexer()
	sort, err := queuesort.New(p.ctx, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.less = sort.(fwk.QueueSortPlugin).Less
	p.upstream = upstream.NewPriorityQueue(p.less, factory,
		upstream.WithClock(p.clock), upstream.WithPodMaxBackoffDuration(opts.PodMaxBackoff),
		upstream.WithPodInitialBackoffDuration(opts.PodInitialBackoff),
		upstream.WithPodMaxInUnschedulablePodsDuration(opts.PodMaxInUnschedulablePods),
		upstream.WithPodLister(factory.Core().V1().Pods().Lister()),
		upstream.WithQueueingHintMapPerProfile(p.plugins.hintMap()), upstream.WithPreEnqueuePluginMap(p.plugins.preEnqueue()),
		upstream.WithMetricsRecorder(metrics.NewMetricsAsyncRecorder(1000, time.Second, p.ctx.Done())))
	if groups {
		p.groups = newGroups(p.names)
	}
	p.write("options PopFromBackoffQ=%v GenericWorkload=%v PodInitialBackoff=%s PodMaxBackoff=%s PodMaxInUnschedulablePods=%s\n----\n\n",
		pop, groups, opts.PodInitialBackoff, opts.PodMaxBackoff, opts.PodMaxInUnschedulablePods)
	p.writePlugins()
	return p
}

// write adds a line to the script. args must not change.
func (p *pair) write(format string, args ...any) {
	p.script = append(p.script, func() string { return fmt.Sprintf(format, args...) })
}

// writePlugins adds the plugins' current hints to the script.
func (p *pair) writePlugins() {
	now := *p.plugins
	p.script = append(p.script, now.script)
}

// say adds a command to the script.
func (p *pair) say(format string, args ...any) {
	now := p.clock.Now()
	p.script = append(p.script, func() string { return "at " + now.Format("15:04:05.999999999") + "\n----\n\n" })
	p.write(format+"\n----\n\n", args...)
}

// note adds a comment to the script, for what no command expresses.
func (p *pair) note(format string, args ...any) { p.write("# "+format+"\n\n", args...) }

// differ fails with the sequence so far, as a script for the tests of package queue.
func (p *pair) differ(format string, args ...any) {
	p.Helper()
	var script strings.Builder
	for _, text := range p.script {
		script.WriteString(text())
	}
	p.Fatalf("%s\n\n%s", fmt.Sprintf(format, args...), script.String())
}
