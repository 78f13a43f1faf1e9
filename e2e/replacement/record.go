package replacement

import (
	"strings"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"github.com/schedq/schedq/queue"
)

// moveLogger is an Observer that logs moves and errors like upstream's queue: failed attempts at -v=3, all
// moves at -v=5, with a line for each pod of a group.
type moveLogger struct{ logger klog.Logger }

// Failed implements queue.Observer.
func (l moveLogger) Failed(err error) {
	utilruntime.HandleErrorWithLogger(l.logger, err, "Scheduling queue error")
}

// tiers are the names of the queues in upstream's log.
var tiers = map[queue.Tier]string{
	queue.Active: "Active", queue.Backoff: "Backoff", queue.Unschedulable: "Unschedulable", queue.Gated: "Unschedulable",
}

// Moved implements queue.Observer.
func (l moveLogger) Moved(t queue.Transition) {
	name, isQueued := tiers[t.To]
	if !isQueued || !l.logger.V(3).Enabled() {
		return
	}
	pod := klog.KObj(t.Pod)
	switch t.To {
	case queue.Gated:
		l.logger.V(5).Info("Entity moved to an internal scheduling queue, because it is gated", "type", "pod", "entity", pod, "event", t.Event, "queue", name)
	case queue.Active, queue.Backoff:
		l.logger.V(5).Info("Entity moved to an internal scheduling queue", "type", "pod", "entity", pod, "event", t.Event, "queue", name)
		if strings.HasPrefix(t.Event, string(fwk.TargetPod)) {
			l.logger.V(5).Info("Entity moved to an internal scheduling queue because the Pod is updated", "type", "pod", "entity", pod,
				"pod", pod, "event", t.Event, "queue", name)
		}
	}
	if t.Event == queue.ScheduleAttemptFailure {
		l.logger.V(3).Info("Pod moved to an internal scheduling queue", "pod", pod, "event", t.Event, "queue", name,
			"unschedulable plugins", sets.New(t.UnschedulablePlugins...).Insert(t.PendingPlugins...))
	}
}

// recordMetrics updates the metrics of the queue every second, like upstream, until it is closed.
func (a adapter) recordMetrics() {
	gauges := map[queue.Tier]interface{ Set(float64) }{
		queue.Active: metrics.ActivePods(), queue.Backoff: metrics.BackoffPods(), queue.Unschedulable: metrics.UnschedulablePods(),
		queue.Gated: metrics.GatedPods(), queue.Incomplete: metrics.IncompletePodGroupPods(), queue.Pending: metrics.PendingPodGroupPods(),
	}
	counted := map[queue.Incoming]int64{}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		for tier, gauge := range gauges {
			gauge.Set(float64(a.Len(tier)))
		}
		for labels, total := range a.IncomingPodsTotal() {
			metrics.SchedulerQueueIncomingPods.WithLabelValues(labels.Queue.String(), labels.Event).Add(float64(total - counted[labels]))
			counted[labels] = total
		}
		select {
		case <-ticker.C:
		case <-a.Closed():
			return
		}
	}
}
