package board

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// searched is how many pods are looked at for a part of a name.
const searched = 20_000

// Named returns up to limit names of pods, in the queue or lately gone from it, that begin with text, and then of those
// that contain it. With a slash in it, text is a namespace and a part of a name; without one, a part of either.
// Of a great many pods not all are looked at for the latter.
func (b *Board) Named(text string, limit int) []types.NamespacedName {
	namespace, name, slash := strings.Cut(text, "/")
	if !slash {
		namespace, name = "default", text
	}
	var begin, contain []types.NamespacedName
	b.Pods.Ascend(&Pod{Key: types.NamespacedName{Namespace: namespace, Name: name}}, func(p *Pod) bool {
		if p.Key.Namespace != namespace || !strings.HasPrefix(p.Key.Name, name) || len(begin) == limit {
			return false
		}
		begin = append(begin, p.Key)
		return true
	})
	from := &Pod{}
	if slash {
		from.Key.Namespace = namespace
	}
	looked := 0
	b.Pods.Ascend(from, func(p *Pod) bool {
		looked++
		begins := p.Key.Namespace == namespace && strings.HasPrefix(p.Key.Name, name)
		if !begins && (strings.Contains(p.Key.Name, name) && (!slash || p.Key.Namespace == namespace) || !slash && strings.Contains(p.Key.Namespace, text)) {
			contain = append(contain, p.Key)
		}
		return looked < searched && len(begin)+len(contain) < limit
	})
	return append(begin, contain...)
}
