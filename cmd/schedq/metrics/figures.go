package metrics

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/opinion"
)

// Figures are the model's metrics in the form of kube-scheduler v1.37's own (pkg/scheduler/metrics). They
// are safe for concurrent use.
type Figures struct {
	mu            sync.Mutex
	registry      *prometheus.Registry
	pending       *prometheus.GaugeVec
	unschedulable *prometheus.GaugeVec
	incoming      *prometheus.CounterVec
	attempts      *prometheus.CounterVec
	sli           *prometheus.HistogramVec
	waits         *waits
	boardAt       time.Time         // of the last SetBoard that counted
	last          *board.Transition // the newest one counted
	counted       int
}

// New returns the figures of an empty queue.
func New() *Figures {
	f := &Figures{}
	f.reset()
	return f
}

func (f *Figures) reset() {
	f.registry, f.last, f.counted = prometheus.NewRegistry(), nil, 0
	f.pending = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "schedq_pending_pods",
		Help: "Number of pending pods, by the queue type."}, []string{"queue"})
	f.unschedulable = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "schedq_unschedulable_pods",
		Help: "The number of unschedulable pods broken down by plugin name."}, []string{"plugin", "profile"})
	f.incoming = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "schedq_queue_incoming_pods_total",
		Help: "Number of pods added to scheduling queues by event and queue type."}, []string{"event", "queue"})
	f.attempts = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "schedq_schedule_attempts_total",
		Help: "Number of attempts to schedule pods, by the result."}, []string{"profile", "result"})
	f.sli = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "schedq_pod_scheduling_sli_duration_seconds",
		Help:    "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue.",
		Buckets: prometheus.ExponentialBuckets(0.01, 2, 20)}, []string{"attempts"})
	f.registry.MustRegister(f.pending, f.unschedulable, f.incoming, f.attempts, f.sli)
	f.waits = newWaits(f.registry)
}

// Add counts a move.
func (f *Figures) Add(t *board.Transition) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count(t)
}

func (f *Figures) count(t *board.Transition) {
	f.last = t
	f.counted++
	if t.Restated() {
		return
	}
	f.waits.count(t)
	profile := t.Pod.Object().Spec.SchedulerName
	switch {
	case t.To == queue.InFlight && t.From == queue.Backoff:
		f.incoming.WithLabelValues(queue.PopFromBackoffQ, queue.Active.String()).Inc()
	case t.To.Queued() && t.Event != "":
		to := min(t.To, queue.Unschedulable) // kube-scheduler counts gated pods there
		f.incoming.WithLabelValues(t.Event, to.String()).Inc()
	}
	switch {
	case t.To == queue.Scheduled:
		f.attempts.WithLabelValues(profile, "scheduled").Inc()
		if began := t.Pod.InitialAttemptTimestamp; !began.IsZero() {
			f.sli.WithLabelValues(attemptsLabel(t.Attempts)).Observe(t.Time.Sub(began).Seconds())
		}
	case t.Event == queue.ScheduleAttemptFailure && len(t.Pod.RejectorPlugins()) > 0:
		f.attempts.WithLabelValues(profile, "unschedulable").Inc()
	case t.Event == queue.ScheduleAttemptFailure:
		f.attempts.WithLabelValues(profile, "error").Inc()
	}
}

// AddVerdict counts the verdict on a pod.
func (f *Figures) AddVerdict(_ time.Time, p *board.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if v := p.Opinion; v != nil && v.Code == opinion.MissedWakeUp {
		f.waits.missed.WithLabelValues(v.Event).Inc()
	}
}

// SetUnserved sets the pods that no scheduler works on. SetBoard counts them.
func (f *Figures) SetUnserved(pods []*board.Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waits.unserved = pods
}

// attemptsLabel models getAttemptsLabel (pkg/scheduler/schedule_one.go).
func attemptsLabel(attempts int) string {
	if attempts >= 15 {
		return "15+"
	}
	return strconv.Itoa(attempts)
}

// countInterval is how often SetBoard counts pods. Prometheus scrapes every few seconds.
const countInterval = time.Second

// SetBoard updates the gauges from b at now, ignoring b's filter. Calls within countInterval of the last
// update do nothing.
func (f *Figures) SetBoard(b *board.Board, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.boardAt).Abs() < countInterval {
		return
	}
	f.boardAt = now
	f.setGauges(b.Unfiltered(), now)
}

// setGauges counts the pods of b by tier and plugin.
func (f *Figures) setGauges(b *board.Board, now time.Time) {
	f.waits.setGauges(b, now)
	f.unschedulable.Reset()
	for _, tier := range tiers {
		f.pending.WithLabelValues(tier.String()).Set(float64(b.Total(tier)))
		for i := range b.Len(tier) {
			p := b.At(tier, i)
			for _, plugin := range p.RejectorPlugins() {
				f.unschedulable.WithLabelValues(plugin, p.Object().Spec.SchedulerName).Inc()
			}
		}
	}
}

// update counts the moves of frame's log that are not counted yet. If it is another log, after a seek
// back or in a what-if, update starts over.
func (f *Figures) update(frame *session.Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := frame.Log
	if f.last != nil && (log.Len() < f.counted || log.At(f.counted-1) != f.last) {
		f.reset()
	}
	for i := f.counted; i < log.Len(); i++ {
		f.count(log.At(i))
	}
	f.setGauges(frame.Board.Unfiltered(), frame.Now)
}

// Gather implements prometheus.GathererFunc.
func (f *Figures) Gather() ([]*dto.MetricFamily, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.registry.Gather()
}

// OfSession returns a gatherer of the figures of s at the moment it shows.
func OfSession(s *session.Session) prometheus.GathererFunc {
	f := New()
	return func() ([]*dto.MetricFamily, error) {
		f.update(s.Frame())
		return f.Gather()
	}
}
