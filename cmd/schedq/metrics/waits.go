package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/sources"
)

// waits are the metrics that kube-scheduler does not export: waiting pods by queue, plugin, namespace and
// age; attempts that failed like the one before; and the difference between the model and the
// scheduler's own counts. The number of labels is bounded.
type waits struct {
	waiting    *prometheus.GaugeVec
	longest    *prometheus.GaugeVec
	wasted     *prometheus.CounterVec
	judged     *prometheus.GaugeVec
	missed     *prometheus.CounterVec
	own        *prometheus.GaugeVec
	difference *prometheus.GaugeVec

	rejected map[types.UID]string // the plugins that rejected each pod's last attempt
	plugins  map[string]bool      // labels of wasted
	counts   *sources.Counts      // the scheduler's own; nil if unknown
	unserved []*board.Pod         // that no scheduler works on
}

// Maximum numbers of label values. Those with the fewest pods are combined as other.
const (
	maxNamespaces = 50
	maxPlugins    = 30
	other         = "other"
)

var tiers = []queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated}

func newWaits(registry *prometheus.Registry) *waits {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	w := &waits{
		waiting:    gauge("schedq_waiting_pods", "Number of pods that wait for a node, by queue, namespace, age, and plugin that rejected them: once for each of those, and once without any.", "queue", "plugin", "namespace", "age"),
		longest:    gauge("schedq_longest_wait_seconds", "Age of the oldest pod, by queue.", "queue"),
		own:        gauge("schedq_scheduler_pending_pods", "The scheduler's own number of pending pods, by queue.", "queue"),
		difference: gauge("schedq_pending_pods_difference", "The model's number of pending pods less the scheduler's own, by queue.", "queue"),
		wasted: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "schedq_wasted_attempts_total",
			Help: "Number of attempts that the same plugins rejected as the pod's attempt before, by plugin."}, []string{"plugin"}),
		judged: gauge("schedq_pods_with_verdict", "Number of waiting pods that the scheduler lost, starves or otherwise does not treat as it should, by verdict, whether that is certain, and namespace.", "verdict", "certain", "namespace"),
		missed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "schedq_missed_wake_ups_total",
			Help: "Number of pods that were bound only after the leftover flush, by the event that made them fit before."}, []string{"event"}),
		rejected: map[types.UID]string{}, plugins: map[string]bool{},
	}
	registry.MustRegister(w.waiting, w.longest, w.own, w.difference, w.wasted, w.judged, w.missed)
	return w
}

// count counts a move.
func (w *waits) count(t *board.Transition) {
	uid := t.Pod.Object().UID
	switch {
	case t.To == queue.Scheduled || t.To == queue.Deleted:
		delete(w.rejected, uid)
	case t.Event == queue.ScheduleAttemptFailure:
		plugins := slices.Sorted(slices.Values(t.Pod.RejectorPlugins()))
		rejectors := strings.Join(plugins, ",")
		if before, known := w.rejected[uid]; known && before == rejectors && rejectors != "" {
			for _, p := range plugins {
				w.wasted.WithLabelValues(w.pluginLabel(p)).Inc()
			}
		}
		w.rejected[uid] = rejectors
	}
}

// pluginLabel returns a plugin's label in a counter, which keeps its labels.
func (w *waits) pluginLabel(plugin string) string {
	if !w.plugins[plugin] && len(w.plugins) >= maxPlugins {
		return other
	}
	w.plugins[plugin] = true
	return plugin
}

// ageLabel returns the bucket of a pod's age.
func ageLabel(age time.Duration) string {
	switch {
	case age < time.Minute:
		return "<1m"
	case age < 10*time.Minute:
		return "1m-10m"
	case age < time.Hour:
		return "10m-1h"
	case age < 24*time.Hour:
		return "1h-24h"
	}
	return ">=24h"
}

// setGauges counts the pods of b at now.
func (w *waits) setGauges(b *board.Board, now time.Time) {
	type cell struct{ queue, plugin, namespace, age string }
	type judgment struct{ verdict, certain, namespace string }
	cells, namespaces, plugins := map[cell]int{}, map[string]int{}, map[string]int{}
	judged := map[judgment]int{}
	judge := func(p *board.Pod) {
		if v := p.Opinion; v != nil {
			judged[judgment{string(v.Code), strconv.FormatBool(v.Certain), p.Key.Namespace}]++
		}
	}
	for _, tier := range tiers {
		oldest := time.Duration(0)
		for i := range b.Len(tier) {
			p := b.At(tier, i)
			age := max(0, now.Sub(p.Arrived))
			oldest = max(oldest, age)
			rejectors := p.RejectorPlugins()
			if len(rejectors) == 0 {
				rejectors = []string{""}
			}
			namespaces[p.Key.Namespace]++
			judge(p)
			for _, plugin := range rejectors {
				plugins[plugin]++
				cells[cell{tier.String(), plugin, p.Key.Namespace, ageLabel(age)}]++
			}
		}
		w.longest.WithLabelValues(tier.String()).Set(oldest.Seconds())
	}
	for _, p := range w.unserved {
		namespaces[p.Key.Namespace]++
		judge(p)
	}
	namespace, plugin := bounded(namespaces, maxNamespaces), bounded(plugins, maxPlugins)
	w.waiting.Reset()
	for c, n := range cells {
		w.waiting.WithLabelValues(c.queue, plugin(c.plugin), namespace(c.namespace), c.age).Add(float64(n))
	}
	w.judged.Reset()
	for j, n := range judged {
		w.judged.WithLabelValues(j.verdict, j.certain, namespace(j.namespace)).Add(float64(n))
	}
	w.compare(b)
}

// compare sets the differences between the model and the scheduler's own counts.
func (w *waits) compare(b *board.Board) {
	if w.counts == nil {
		return
	}
	for i, own := range []int{w.counts.Active, w.counts.Backoff, w.counts.Unschedulable, w.counts.Gated} {
		w.own.WithLabelValues(tiers[i].String()).Set(float64(own))
		w.difference.WithLabelValues(tiers[i].String()).Set(float64(b.Total(tiers[i]) - own))
	}
}

// bounded returns a function that keeps the limit names with the highest counts and maps others to other.
func bounded(counts map[string]int, limit int) func(string) string {
	if len(counts) <= limit {
		return func(name string) string { return name }
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	kept := map[string]bool{}
	for _, name := range names[:limit] {
		kept[name] = true
	}
	return func(name string) string {
		if kept[name] {
			return name
		}
		return other
	}
}

// countedStream passes the scheduler's own counts to figures.
type countedStream struct {
	sources.Stream
	figures *Figures
}

// WithCounts returns stream, and f uses the scheduler's own counts that it delivers.
func (f *Figures) WithCounts(stream sources.Stream) sources.Stream { return &countedStream{stream, f} }

// Take implements sources.Stream.
func (s *countedStream) Take() ([]sources.Event, sources.Status) {
	events, status := s.Stream.Take()
	for _, ev := range events {
		if c, is := ev.Fact.(*sources.Counts); is {
			s.figures.mu.Lock()
			s.figures.waits.counts = c
			s.figures.mu.Unlock()
		}
	}
	return events, status
}
