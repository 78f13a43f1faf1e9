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

// candidates limits how many pods an error lists.
const candidates = 5

// FindPod returns the pod of rec with that name: NAMESPACE/NAME, or NAME if only one namespace has it. The
// error lists the candidates, or says why rec can't be read.
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
		return types.NamespacedName{}, fmt.Errorf("%d pods match %s: %s", len(named), sources.Sanitize(name), list(named))
	}
	all, err := podsIn(ctx, rec, func(types.NamespacedName) bool { return true })
	switch {
	case err != nil:
		return types.NamespacedName{}, err
	case len(all) == 0:
		return types.NamespacedName{}, fmt.Errorf("%s contains no pods", rec.Name)
	}
	slices.SortFunc(all, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(likeness(b, name), likeness(a, name)), ByKey(a, b))
	})
	none := slices.IndexFunc(all, func(key types.NamespacedName) bool { return likeness(key, name) < 0.5 })
	if none < 0 {
		none = len(all)
	}
	if near := all[:none]; len(near) > 0 {
		return types.NamespacedName{}, fmt.Errorf("pod %s not found in %s; did you mean %s?", sources.Sanitize(name), rec.Name, list(near))
	}
	return types.NamespacedName{}, fmt.Errorf("pod %s not found in %s, nor a similar name among its %s",
		sources.Sanitize(name), rec.Name, words.Plural(len(all), "pod"))
}

// AllPods returns the pods of rec, sorted by key.
func AllPods(ctx context.Context, rec *sources.Recording) ([]types.NamespacedName, error) {
	all, err := podsIn(ctx, rec, func(types.NamespacedName) bool { return true })
	slices.SortFunc(all, ByKey)
	return all, err
}

// podsIn returns the wanted pods of rec, each once, in no particular order.
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

// likeness returns how much of key is in name, from both ends: 1 if all of it.
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
