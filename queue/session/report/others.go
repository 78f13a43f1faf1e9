package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// maxOthers limits how many other schedulers are named.
const maxOthers = 3

// OtherSchedulers returns a notice about pods that wait for schedulers without a profile in cfg, which are
// left out. It is "" if there are none, or if the recording contains the moves of all pods.
func OtherSchedulers(events []sources.Event, cfg *schedulerconfig.Config) string {
	if cluster.HasFact[*sources.Move](events) {
		return ""
	}
	pods, schedulers := map[types.UID]bool{}, map[string]bool{}
	for _, ev := range events {
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		pod, ok := c.Object.(*v1.Pod)
		if !ok || !cluster.Waiting(pod) || c.Verb == sources.Deleted || pod.Spec.SchedulerName == "" || cfg.HasProfile(pod.Spec.SchedulerName) {
			continue
		}
		pods[pod.UID], schedulers[pod.Spec.SchedulerName] = true, true
	}
	if len(pods) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(schedulers))
	if more := len(names) - maxOthers; more > 0 {
		names = append(names[:maxOthers], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("Left out: %s of other schedulers (%s).", words.Plural(len(pods), "pod"), sources.Sanitize(strings.Join(names, ", ")))
}
