package explain

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// UnknownPod returns an error that says why a pod of rec is not in the queue at a moment. pod is its
// object at that moment, or nil.
func UnknownPod(ctx context.Context, rec *sources.Recording, pod *v1.Pod, key types.NamespacedName, at time.Time, zone words.Zone) error {
	name, now := sources.Sanitize(key.String()), zone.Clock(at)
	if pod != nil && pod.Spec.NodeName != "" {
		return fmt.Errorf("%s was never queued before %s: it runs on %s", name, now, sources.Sanitize(pod.Spec.NodeName))
	} else if pod != nil {
		return fmt.Errorf("%s was never queued before %s: its scheduler is %s and its phase %s", name, now,
			sources.Sanitize(pod.Spec.SchedulerName), sources.Sanitize(string(pod.Status.Phase)))
	}
	for ev, err := range rec.All(ctx) {
		if err != nil {
			return err
		}
		if k, ok := cluster.PodOf(ev); ok && k == key && ev.Time.After(at) {
			return fmt.Errorf("%s was not in the queue at %s: it arrived at %s", name, now, zone.Clock(ev.Time))
		}
	}
	return fmt.Errorf("%s was not in the queue at %s", name, now)
}
