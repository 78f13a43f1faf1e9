package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// PodOf returns the pod that ev is about, if it is about one.
func PodOf(ev sources.Event) (types.NamespacedName, bool) {
	if c, is := ev.Fact.(*sources.ObjectChange); is {
		pod, is := c.Object.(*v1.Pod)
		if !is {
			return types.NamespacedName{}, false
		}
		return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, true
	}
	return sources.LoggedPod(ev.Fact)
}

// candidates is how many pods a sentence about a name lists at the most.
const candidates = 5

// FindPod returns the pod of rec that a person calls name: NAMESPACE/NAME, or NAME if no other namespace has
// one of that name. An error says which there are, or why rec can't be read to its end.
func FindPod(ctx context.Context, rec *sources.Recording, name string) (types.NamespacedName, error) {
	named, err := podsIn(ctx, rec, func(key types.NamespacedName) bool {
		return key.Name == name || strings.Contains(name, "/") && key.String() == name
	})
	switch {
	case err != nil:
		return types.NamespacedName{}, err
	case len(named) == 1:
		return named[0], nil
	case len(named) > 1:
		slices.SortFunc(named, ByKey)
		return types.NamespacedName{}, fmt.Errorf("there are %d pods %s: %s", len(named), sources.Sanitize(name), list(named))
	}
	all, err := podsIn(ctx, rec, func(types.NamespacedName) bool { return true })
	switch {
	case err != nil:
		return types.NamespacedName{}, err
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

// podsIn returns the pods of rec that are wanted, each once, in no order.
func podsIn(ctx context.Context, rec *sources.Recording, wanted func(types.NamespacedName) bool) ([]types.NamespacedName, error) {
	seen := map[types.NamespacedName]bool{}
	for ev, err := range rec.All(ctx) {
		if err != nil {
			return nil, err
		}
		if key, ok := PodOf(ev); ok && wanted(key) {
			seen[key] = true
		}
	}
	return slices.Collect(maps.Keys(seen)), nil
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
