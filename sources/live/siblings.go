package live

// Pods of a live cluster share the memory of equal parts.

import (
	"maps"
	"reflect"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// siblingSet makes similar pods share memory: replicas, and the pods of successive Jobs, differ in little but their
// names and nodes. This halves the memory of a large cluster. It is safe for concurrent use.
type siblingSet struct {
	mu     sync.Mutex
	specs  map[string]*corev1.PodSpec            // by their encoding, without the node
	labels map[string]map[string]string          // by their encoding
	owners map[types.UID][]metav1.OwnerReference // of the controller's latest pod
	words  map[string]string
	text   []byte // reused buffer
}

// maxShared limits the shared values of each kind. Beyond it they are dropped, which costs only memory.
const maxShared = 20_000

// newSiblings returns an empty siblingSet.
func newSiblings() *siblingSet {
	return &siblingSet{specs: map[string]*corev1.PodSpec{}, labels: map[string]map[string]string{},
		owners: map[types.UID][]metav1.OwnerReference{}, words: map[string]string{}}
}

// Share makes pod, which has no other references yet, share memory with its siblings. Emitted objects never change, so
// equal values may be shared.
func (s *siblingSet) Share(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		c.Type, c.Status = corev1.PodConditionType(s.word(string(c.Type))), corev1.ConditionStatus(s.word(string(c.Status)))
		c.Reason = s.word(c.Reason)
	}
	pod.Namespace = s.word(pod.Namespace)
	s.shareLabels(pod)
	s.shareOwners(pod)
	s.shareSpec(pod)
}

func (s *siblingSet) shareSpec(pod *corev1.Pod) {
	node := s.word(pod.Spec.NodeName)
	pod.Spec.NodeName = ""
	defer func() { pod.Spec.NodeName = node }()
	size := pod.Spec.Size()
	s.text = slices.Grow(s.text[:0], size)[:size]
	n, err := pod.Spec.MarshalToSizedBuffer(s.text)
	if err != nil {
		return // not shared
	}
	text := s.text[size-n:]
	known := s.specs[string(text)]
	if known == nil {
		spec := pod.Spec
		remember(s.specs, string(text), &spec)
		return
	}
	pod.Spec = *known
}

func (s *siblingSet) shareLabels(pod *corev1.Pod) {
	if len(pod.Labels) == 0 {
		return
	}
	s.text = s.text[:0]
	for _, name := range slices.Sorted(maps.Keys(pod.Labels)) {
		s.text = append(append(append(append(s.text, name...), 0), pod.Labels[name]...), 0)
	}
	if known := s.labels[string(s.text)]; known != nil {
		pod.Labels = known
		return
	}
	remember(s.labels, string(s.text), pod.Labels)
}

func (s *siblingSet) shareOwners(pod *corev1.Pod) {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return
	}
	if known := s.owners[owner.UID]; reflect.DeepEqual(pod.OwnerReferences, known) {
		pod.OwnerReferences = known
		return
	}
	remember(s.owners, owner.UID, pod.OwnerReferences)
}

// word returns the shared copy of a string.
func (s *siblingSet) word(w string) string {
	if known, ok := s.words[w]; ok {
		return known
	}
	remember(s.words, w, w)
	return w
}

// remember adds a value to known, within the limit.
func remember[K comparable, V any](known map[K]V, key K, value V) {
	if len(known) >= maxShared {
		clear(known)
	}
	known[key] = value
}
