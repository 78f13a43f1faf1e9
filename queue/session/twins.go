package session

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// twins returns what a person should know of pods that have one UID at a time, or "". No API server makes such
// pods, and upstream's caches know pods by their UIDs, so a local scheduler does without all but the first.
func twins(events []sources.Event) string {
	known := map[types.UID]types.NamespacedName{}
	said, more := "", map[types.NamespacedName]bool{}
	for _, ev := range events {
		c, ok := ev.Fact.(*sources.ObjectChange)
		if !ok {
			continue
		}
		pod, ok := c.Object.(*v1.Pod)
		if !ok || pod.UID == "" {
			continue
		}
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
		first, taken := known[pod.UID]
		switch {
		case taken && first != key:
			if said == "" {
				said = fmt.Sprintf("Pods %s and %s have the same UID %s: a local scheduler leaves the second out", first, key, sources.Sanitize(string(pod.UID)))
			}
			more[key] = true
		case c.Verb == sources.Deleted:
			delete(known, pod.UID)
		default:
			known[pod.UID] = key
		}
	}
	switch n := len(more) - 1; {
	case said == "":
		return ""
	case n > 0:
		return fmt.Sprintf("%s, and %s more.", said, times(n, "such pod"))
	}
	return said + "."
}
