package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/sources"
)

// waits are figures that kube-scheduler does not export: who waits, for how long, where and for what; attempts that told nothing
// new; and how far the model is from the scheduler's own counts. The sets of labels are bounded.
type waits struct {
	waiting    *prometheus.GaugeVec
	longest    *prometheus.GaugeVec
	wasted     *prometheus.CounterVec
	own        *prometheus.GaugeVec
	difference *prometheus.GaugeVec

	rejected map[types.UID]string // by what the last attempt of each pod that waits was rejected
	plugins  map[string]bool      // that wasted has
	counts   *sources.Counts      // the scheduler's own; nil if nobody tells
}

// How many values a label has at the most. The rest, which has the fewest pods, is other.
const (
	mostNamespaces = 50
	mostPlugins    = 30
	other          = "other"
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
		rejected: map[types.UID]string{}, plugins: map[string]bool{},
	}
	registry.MustRegister(w.waiting, w.longest, w.own, w.difference, w.wasted)
	return w
}

// count takes in a move.
func (w *waits) count(t *board.Transition) {
	uid := t.Pod.Object().UID
	switch {
	case t.To == queue.Scheduled || t.To == queue.Deleted:
		delete(w.rejected, uid)
	case t.Event == queue.ScheduleAttemptFailure:
		plugins := slices.Sorted(slices.Values(t.Pod.RejectorPlugins()))
		now := strings.Join(plugins, ",")
		if before, known := w.rejected[uid]; known && before == now && now != "" {
			for _, p := range plugins {
				w.wasted.WithLabelValues(w.pluginLabel(p)).Inc()
			}
		}
		w.rejected[uid] = now
	}
}

// pluginLabel is a plugin's label in a counter, whose labels stay.
func (w *waits) pluginLabel(plugin string) string {
	if !w.plugins[plugin] && len(w.plugins) >= mostPlugins {
		return other
	}
	w.plugins[plugin] = true
	return plugin
}

// ageLabel is the bucket that a pod's age falls into.
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

// stand takes in where the pods are at now.
func (w *waits) stand(b *board.Board, now time.Time) {
	type cell struct{ queue, plugin, namespace, age string }
	cells, namespaces, plugins := map[cell]int{}, map[string]int{}, map[string]int{}
	for _, tier := range tiers {
		oldest := time.Duration(0)
		for i := range b.Len(tier) {
			p := b.At(tier, i)
			came := p.Object().CreationTimestamp.Time
			if came.IsZero() {
				came = p.Arrived
			}
			age := max(0, now.Sub(came))
			oldest = max(oldest, age)
			rejectors := p.RejectorPlugins()
			if len(rejectors) == 0 {
				rejectors = []string{""}
			}
			namespaces[p.Key.Namespace]++
			for _, plugin := range rejectors {
				plugins[plugin]++
				cells[cell{tier.String(), plugin, p.Key.Namespace, ageLabel(age)}]++
			}
		}
		w.longest.WithLabelValues(tier.String()).Set(oldest.Seconds())
	}
	namespace, plugin := bounded(namespaces, mostNamespaces), bounded(plugins, mostPlugins)
	w.waiting.Reset()
	for c, n := range cells {
		w.waiting.WithLabelValues(c.queue, plugin(c.plugin), namespace(c.namespace), c.age).Add(float64(n))
	}
	w.compare(b)
}

// compare takes in how far the model is from the scheduler's own counts.
func (w *waits) compare(b *board.Board) {
	if w.counts == nil {
		return
	}
	for i, own := range []int{w.counts.Active, w.counts.Backoff, w.counts.Unschedulable, w.counts.Gated} {
		w.own.WithLabelValues(tiers[i].String()).Set(float64(own))
		w.difference.WithLabelValues(tiers[i].String()).Set(float64(b.Total(tiers[i]) - own))
	}
}

// bounded returns what each of the counted names is called where there is room for most of them.
func bounded(counts map[string]int, most int) func(string) string {
	if len(counts) <= most {
		return func(name string) string { return name }
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	kept := map[string]bool{}
	for _, name := range names[:most] {
		kept[name] = true
	}
	return func(name string) string {
		if kept[name] {
			return name
		}
		return other
	}
}

// heard is a stream of which the scheduler's own counts are figures, too.
type heard struct {
	sources.Stream
	figures *Figures
}

// Hear returns stream, of which f takes in the scheduler's own counts.
func (f *Figures) Hear(stream sources.Stream) sources.Stream { return &heard{stream, f} }

// Take implements sources.Stream.
func (h *heard) Take() ([]sources.Event, sources.Status) {
	events, status := h.Stream.Take()
	for _, ev := range events {
		if c, is := ev.Fact.(*sources.Counts); is {
			h.figures.mu.Lock()
			h.figures.waits.counts = c
			h.figures.mu.Unlock()
		}
	}
	return events, status
}
