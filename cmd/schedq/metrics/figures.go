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
)

// Figures are the model's, as kube-scheduler v1.37 exposes its own (pkg/scheduler/metrics): counts of pods and of
// moves, and durations in seconds. They are safe for concurrent use.
type Figures struct {
	mu            sync.Mutex
	registry      *prometheus.Registry
	pending       *prometheus.GaugeVec
	unschedulable *prometheus.GaugeVec
	incoming      *prometheus.CounterVec
	attempts      *prometheus.CounterVec
	sli           *prometheus.HistogramVec
	waits         *waits
	stood         time.Time         // when the pods were counted last
	last          *board.Transition // the newest that is counted
	counted       int
}

// New returns figures of a queue in which nothing has happened.
func New() *Figures {
	f := &Figures{}
	f.reset()
	return f
}

func (f *Figures) reset() {
	f.registry, f.last, f.counted = prometheus.NewRegistry(), nil, 0
	f.pending = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "scheduler_pending_pods",
		Help: "Number of pending pods, by the queue type."}, []string{"queue"})
	f.unschedulable = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "scheduler_unschedulable_pods",
		Help: "The number of unschedulable pods broken down by plugin name."}, []string{"plugin", "profile"})
	f.incoming = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "scheduler_queue_incoming_pods_total",
		Help: "Number of pods added to scheduling queues by event and queue type."}, []string{"event", "queue"})
	f.attempts = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "scheduler_schedule_attempts_total",
		Help: "Number of attempts to schedule pods, by the result."}, []string{"profile", "result"})
	f.sli = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "scheduler_pod_scheduling_sli_duration_seconds",
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
		to := min(t.To, queue.Unschedulable) // gated pods are counted there
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

// attemptsLabel models getAttemptsLabel (pkg/scheduler/schedule_one.go).
func attemptsLabel(attempts int) string {
	if attempts >= 15 {
		return "15+"
	}
	return strconv.Itoa(attempts)
}

// standEvery is how often it is worth to count the pods anew: Prometheus asks every few seconds.
const standEvery = time.Second

// Stand takes in where the pods are at now, whichever of them a filter shows. It may be called more often than that is worth.
func (f *Figures) Stand(b *board.Board, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.stood).Abs() < standEvery {
		return
	}
	f.stood = now
	f.setPending(b.Unfiltered(), now)
}

// setPending sets the figures of how many pods are where, as b has them at now.
func (f *Figures) setPending(b *board.Board, now time.Time) {
	f.waits.stand(b, now)
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

// show takes in a frame: what of its log is not counted yet, or all if it is another log: one goes back in
// time, or into a what-if. A counter that falls is a reset to Prometheus.
func (f *Figures) show(frame *session.Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := frame.Log
	if f.last != nil && (log.Len() < f.counted || log.At(f.counted-1) != f.last) {
		f.reset()
	}
	for i := f.counted; i < log.Len(); i++ {
		f.count(log.At(i))
	}
	f.setPending(frame.Board.Unfiltered(), frame.Now)
}

// Gather implements prometheus.GathererFunc: it returns the figures of this moment.
func (f *Figures) Gather() ([]*dto.MetricFamily, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.registry.Gather()
}

// OfSession returns what gathers the figures of s as it is shown at that moment.
func OfSession(s *session.Session) prometheus.GathererFunc {
	f := New()
	return func() ([]*dto.MetricFamily, error) {
		f.show(s.Frame())
		return f.Gather()
	}
}
