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

// Unknown says why the queue does not know a pod of rec at a moment. pod is its object as it is then, or nil.
func Unknown(ctx context.Context, rec *sources.Recording, pod *v1.Pod, key types.NamespacedName, at time.Time, zone words.Zone) error {
	name, now := sources.Sanitize(key.String()), zone.Clock(at)
	if pod != nil && pod.Spec.NodeName != "" {
		return fmt.Errorf("%s was not in the queue up to %s: it runs on %s", name, now, sources.Sanitize(pod.Spec.NodeName))
	} else if pod != nil {
		return fmt.Errorf("%s was not in the queue up to %s: its scheduler is %s, its phase %s", name, now,
			sources.Sanitize(pod.Spec.SchedulerName), sources.Sanitize(string(pod.Status.Phase)))
	}
	for ev, err := range rec.All(ctx) {
		if err != nil {
			return err
		}
		if k, ok := cluster.PodOf(ev); ok && k == key && ev.Time.After(at) {
			return fmt.Errorf("the queue did not know %s at %s: it came at %s", name, now, zone.Clock(ev.Time))
		}
	}
	return fmt.Errorf("the queue did not know %s at %s", name, now)
}
