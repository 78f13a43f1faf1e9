package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// PodOf returns the pod that ev is about, if it is about one.
func PodOf(ev sources.Event) (types.NamespacedName, bool) {
	switch f := ev.Fact.(type) {
	case *sources.Move:
		return f.Pod, true
	case *sources.FailedAttempt:
		return f.Pod, true
	case *sources.Bound:
		return f.Pod, true
	case *sources.Dumped:
		return f.Pod, true
	case *sources.ObjectChange:
		if pod, ok := f.Object.(*v1.Pod); ok {
			return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, true
		}
	}
	return types.NamespacedName{}, false
}

// candidates is how many pods a sentence about a name lists at the most.
const candidates = 5

// FindPod returns the pod of rec that a person calls name: NAMESPACE/NAME, or NAME if no other namespace has
// one of that name. An error says which there are.
func FindPod(rec *sources.Recording, name string) (types.NamespacedName, error) {
	seen := map[types.NamespacedName]bool{}
	for _, ev := range rec.Events {
		if key, ok := PodOf(ev); ok {
			seen[key] = true
		}
	}
	var named, all []types.NamespacedName
	for key := range seen {
		all = append(all, key)
		if key.Name == name || key.String() == name {
			named = append(named, key)
		}
	}
	switch {
	case len(named) == 1:
		return named[0], nil
	case len(named) > 1:
		slices.SortFunc(named, ByKey)
		return types.NamespacedName{}, fmt.Errorf("there are %d pods %s: %s", len(named), sources.Sanitize(name), list(named))
	case len(all) == 0:
		return types.NamespacedName{}, fmt.Errorf("no pod is in %s", rec.Name)
	}
	slices.SortFunc(all, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(likeness(b, name), likeness(a, name)), ByKey(a, b))
	})
	none := slices.IndexFunc(all, func(key types.NamespacedName) bool { return likeness(key, name) < 0.5 })
	if none < 0 {
		none = len(all)
	}
	if near := all[:none]; len(near) > 0 {
		return types.NamespacedName{}, fmt.Errorf("no pod %s is in %s; near are %s", sources.Sanitize(name), rec.Name, list(near))
	}
	return types.NamespacedName{}, fmt.Errorf("no pod %s is in %s, nor one of a like name among its %s",
		sources.Sanitize(name), rec.Name, words.Times(len(all), "pod"))
}

func list(keys []types.NamespacedName) sources.SafeText {
	var names []string
	for _, key := range keys[:min(candidates, len(keys))] {
		names = append(names, key.String())
	}
	s := strings.Join(names, ", ")
	if left := len(keys) - candidates; left > 0 {
		s += fmt.Sprintf(" and %d more", left)
	}
	return sources.Sanitize(s)
}

// likeness is how much of key is in name, from its two ends: 1 if all of it.
func likeness(key types.NamespacedName, name string) float64 {
	full := key.Name
	if strings.Contains(name, "/") {
		full = key.String()
	}
	if name != "" && strings.Contains(full, name) {
		return 1
	}
	n := min(len(full), len(name))
	head, tail := 0, 0
	for head < n && full[head] == name[head] {
		head++
	}
	for tail < n-head && full[len(full)-1-tail] == name[len(name)-1-tail] {
		tail++
	}
	return float64(head+tail) / float64(max(1, len(full), len(name)))
}
