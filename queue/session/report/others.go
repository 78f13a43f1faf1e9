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

// maxOthers is how many other schedulers are named.
const maxOthers = 3

// OthersPods says how many pods wait, or waited, for schedulers that cfg has no profile of: they are left out. It is ""
// if there are none, or if the moves are told, whoever's pods they are of.
func OthersPods(events []sources.Event, cfg *schedulerconfig.Config) string {
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
	return fmt.Sprintf("Left out: %s of other schedulers (%s).", words.Times(len(pods), "pod"), sources.Sanitize(strings.Join(names, ", ")))
}
