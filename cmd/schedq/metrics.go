package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources"
)

// metricsFlag is --metrics-address: where the model's figures can be scraped, under the scheduler's own
// names, so that a dashboard made for kube-scheduler shows them.
type metricsFlag struct{ address string }

func (f *metricsFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.address, "metrics-address", "", "serve the model's figures under kube-scheduler's names at `HOST:PORT`/metrics; without HOST, on the loopback interface")
}

// listen opens the address, if there is one. What is served comes later, by serve.
func (f *metricsFlag) listen() (net.Listener, error) {
	if f.address == "" {
		return nil, nil
	}
	host, port, err := net.SplitHostPort(f.address)
	if err != nil {
		return nil, usageError{fmt.Errorf("--metrics-address %s is not a HOST:PORT", sources.Sanitize(f.address))}
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("--metrics-address: %w", err)
	}
	return l, nil
}

// serveMetrics serves what gather returns on l, until ctx ends. It does nothing without l.
func serveMetrics(ctx context.Context, l net.Listener, gather prometheus.GathererFunc) {
	if l == nil {
		return
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(gather, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	go func() {
		if err := server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			l.Close()
		}
	}()
}

// figures are the model's, as kube-scheduler v1.37 exposes its own (pkg/scheduler/metrics). It is safe for
// concurrent use.
type figures struct {
	mu            sync.Mutex
	registry      *prometheus.Registry
	pending       *prometheus.GaugeVec
	unschedulable *prometheus.GaugeVec
	incoming      *prometheus.CounterVec
	attempts      *prometheus.CounterVec
	sli           *prometheus.HistogramVec
	last          *session.Transition // the newest that is counted
	counted       int
}

func newFigures() *figures {
	f := &figures{}
	f.reset()
	return f
}

func (f *figures) reset() {
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
}

// add counts a move.
func (f *figures) add(t *session.Transition) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count(t)
}

func (f *figures) count(t *session.Transition) {
	f.last = t
	f.counted++
	if t.Restated() {
		return
	}
	profile := t.Pod.PodInfo.Pod.Spec.SchedulerName
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

// stand takes in where the pods are.
func (f *figures) stand(b *session.Board) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stands(b.Unfiltered())
}

func (f *figures) stands(b *session.Board) {
	f.unschedulable.Reset()
	for _, tier := range []queue.Tier{queue.Active, queue.Backoff, queue.Unschedulable, queue.Gated} {
		f.pending.WithLabelValues(tier.String()).Set(float64(b.Total(tier)))
		for i := range b.Len(tier) {
			p := b.At(tier, i)
			for _, plugin := range p.RejectorPlugins() {
				f.unschedulable.WithLabelValues(plugin, p.PodInfo.Pod.Spec.SchedulerName).Inc()
			}
		}
	}
}

// show takes in a frame: what of its log is not counted yet, or all if it is another log: one goes back in
// time, or into a what-if. A counter that falls is a reset to Prometheus.
func (f *figures) show(frame *session.Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := frame.Log
	if f.last != nil && (log.Len() < f.counted || log.At(f.counted-1) != f.last) {
		f.reset()
	}
	for i := f.counted; i < log.Len(); i++ {
		f.count(log.At(i))
	}
	f.stands(frame.Board.Unfiltered())
}

// gather returns the figures.
func (f *figures) gather() ([]*dto.MetricFamily, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.registry.Gather()
}

// ofSession returns what gathers the figures of s as it is shown at that moment.
func (f *figures) ofSession(s *session.Session) prometheus.GathererFunc {
	return func() ([]*dto.MetricFamily, error) {
		f.show(s.Frame())
		return f.gather()
	}
}
