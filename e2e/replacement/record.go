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

// logged is an Observer that writes the lines that upstream's queue writes of moves, with -v=3 those of failed attempts and with -v=5
// all. Each pod of a group has its own. What fails it logs as an error.
type logged struct{ logger klog.Logger }

// Failed implements queue.Observer.
func (l logged) Failed(err error) {
	utilruntime.HandleErrorWithLogger(l.logger, err, "The scheduling queue met an error")
}

// tiers are the queues as upstream's log names them.
var tiers = map[queue.Tier]string{
	queue.Active: "Active", queue.Backoff: "Backoff", queue.Unschedulable: "Unschedulable", queue.Gated: "Unschedulable",
}

// Moved implements queue.Observer.
func (l logged) Moved(t queue.Transition) {
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

// recordMetrics sets the metrics of the queue's size once a second, as upstream flushes others, until the queue is closed.
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
