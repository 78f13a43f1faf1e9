package live

import (
	"reflect"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// siblings lets pods share what they have in common with the last pod of the same owner: replicas differ in
// little but their names and nodes, and that is half of a large cluster's memory. It is safe for concurrent
// use.
type siblings struct {
	mu    sync.Mutex
	last  map[types.UID]*corev1.Pod // by owner
	words map[string]string
}

// maxOwners and maxWords bound what is remembered. Beyond it, it is forgotten, and nothing else happens.
const (
	maxOwners = 20_000
	maxWords  = 10_000
)

func newSiblings() *siblings {
	return &siblings{last: map[types.UID]*corev1.Pod{}, words: map[string]string{}}
}

// share makes pod, which nobody else has yet, share with its siblings. Objects are never changed once they
// are told, so what is equal may as well be the same.
func (s *siblings) share(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		c.Type, c.Status = corev1.PodConditionType(s.word(string(c.Type))), corev1.ConditionStatus(s.word(string(c.Status)))
		c.Reason = s.word(c.Reason)
	}
	pod.Spec.NodeName = s.word(pod.Spec.NodeName)
	pod.Namespace = s.word(pod.Namespace)
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return
	}
	if len(s.last) > maxOwners {
		clear(s.last)
	}
	before := s.last[owner.UID]
	s.last[owner.UID] = pod
	if before == nil {
		return
	}
	if reflect.DeepEqual(pod.Labels, before.Labels) {
		pod.Labels = before.Labels
	}
	if reflect.DeepEqual(pod.OwnerReferences, before.OwnerReferences) {
		pod.OwnerReferences = before.OwnerReferences
	}
	spec := before.Spec
	spec.NodeName = pod.Spec.NodeName
	if reflect.DeepEqual(pod.Spec, spec) {
		pod.Spec = spec
	}
}

// word returns the one copy of a word that many objects have.
func (s *siblings) word(w string) string {
	if known, ok := s.words[w]; ok {
		return known
	}
	if len(s.words) > maxWords {
		clear(s.words)
	}
	s.words[w] = w
	return w
}
