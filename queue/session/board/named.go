package board

import (
	"iter"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// maxScanned limits how many pods Named scans for a substring.
const maxScanned = 20_000

// Named returns up to limit names of pods, first those that begin with text, then those that contain it.
// Text with a slash is a namespace and part of a name; without one it is part of either. Only the first
// maxScanned pods are scanned for the latter.
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
		return looked < maxScanned && len(begin)+len(contain) < limit
	})
	return append(begin, contain...)
}

// InNamespace yields the pods of a namespace, queued or not, by name. It ignores the filter.
func (b *Board) InNamespace(namespace string) iter.Seq[*Pod] {
	return func(yield func(*Pod) bool) {
		b.Pods.Ascend(&Pod{Key: types.NamespacedName{Namespace: namespace}}, func(p *Pod) bool {
			return p.Key.Namespace == namespace && yield(p)
		})
	}
}
