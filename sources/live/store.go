package live

import (
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/schedq/schedq/sources"
)

// trimmed is an object with only the fields that the scheduler reads. object is nil if the object was skipped.
type trimmed struct {
	metav1.Object // metadata of object, or of the skipped object
	object        runtime.Object
}

// GetObjectKind and DeepCopyObject implement runtime.Object, so that a reflector can hold it.
func (t *trimmed) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }
func (t *trimmed) DeepCopyObject() runtime.Object   { return t }

// store is a reflector's store of the objects of one resource. It emits each difference from the previous state, so a
// fresh list after a lost connection emits the missed additions, changes and deletions once.
type store struct {
	source  *Source
	kind    *resource
	objects map[types.NamespacedName]runtime.Object
	held    int64 // memory of the objects, in bytes
	taken   int64 // memory of the listed objects so far
}

var _ cache.TransformingStore = (*store)(nil)

// Transformer implements cache.TransformingStore: objects of a streamed list are trimmed as they arrive.
func (s *store) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		t, err := s.trim(obj)
		if err != nil {
			return nil, err
		}
		s.source.streamed(s.kind)
		return t, s.take(t.object)
	}
}

// objectTakes is the approximate memory of an object without its strings, in bytes.
const objectTakes = 1000

// sizeOf returns the approximate memory of obj, in bytes.
func sizeOf(obj runtime.Object) int64 {
	if sized, ok := obj.(interface{ Size() int }); ok {
		return objectTakes + 2*int64(sized.Size()) // strings and structure
	}
	return objectTakes
}

// take counts a listed or added object, and ends the source if the objects need too much memory.
func (s *store) take(obj runtime.Object) error {
	if s.taken += sizeOf(obj); s.taken <= s.source.opts.MaxList {
		return nil
	}
	err := s.tooMany()
	s.source.refuse(err)
	return err
}

// hold counts additional memory of the objects, and ends the source if it is too much: a watch can add objects without
// end. The lock is held.
func (s *store) hold(more int64) {
	if s.held += more; s.held > s.source.opts.MaxList {
		s.source.refuseLocked(s.tooMany())
	}
}

func (s *store) tooMany() error {
	return fmt.Errorf("the %s of the cluster take more than %d MiB, the limit of one kind: --memory allows more", s.kind.name, s.source.opts.MaxList>>20)
}

// trim trims an object if it is not trimmed yet. An oversized one is skipped: an error would end the watch.
func (s *store) trim(obj any) (*trimmed, error) {
	if t, ok := obj.(*trimmed); ok {
		return t, nil
	}
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	o, ok := obj.(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no API object", obj)
	}
	m, ok := obj.(metav1.Object)
	if !ok {
		return nil, fmt.Errorf("%T has no metadata", obj)
	}
	kept, err := trim(o)
	if err != nil {
		s.source.leftOut(s.kind, err)
		return &trimmed{Object: &metav1.ObjectMeta{Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID(), ResourceVersion: m.GetResourceVersion()}}, nil
	}
	if pod, ok := kept.(*corev1.Pod); ok {
		s.source.siblings.Share(pod)
	}
	return &trimmed{Object: kept.(metav1.Object), object: kept}, nil
}

// Add implements cache.ReflectorStore.
func (s *store) Add(obj any) error { return s.put(obj) }

// Update implements cache.ReflectorStore.
func (s *store) Update(obj any) error { return s.put(obj) }

func (s *store) put(obj any) error {
	t, err := s.trim(obj)
	if err != nil || t.object == nil {
		return err
	}
	now := time.Now()
	s.source.mu.Lock()
	defer s.source.mu.Unlock()
	s.change(now, keyOf(t), t.object)
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *store) Delete(obj any) error {
	t, err := s.trim(obj)
	if err != nil {
		return err
	}
	now := time.Now()
	s.source.mu.Lock()
	defer s.source.mu.Unlock()
	s.remove(now, keyOf(t), t.object)
	return nil
}

// Replace implements cache.ReflectorStore: list contains all objects.
func (s *store) Replace(list []any, _ string) error {
	fresh := make(map[types.NamespacedName]runtime.Object, len(list))
	for _, obj := range list {
		t, err := s.trim(obj)
		if err != nil {
			return err
		}
		if t.object != nil {
			fresh[keyOf(t)] = t.object
		}
	}
	now := time.Now()
	s.source.mu.Lock()
	defer s.source.mu.Unlock()
	for key := range s.objects {
		if _, ok := fresh[key]; !ok {
			s.remove(now, key, nil)
		}
	}
	for key, obj := range fresh {
		s.change(now, key, obj)
	}
	s.source.listed(s.kind)
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *store) Resync() error { return nil }

// Bookmark implements cache.ReflectorBookmarkStore: the watch is alive.
func (s *store) Bookmark(string) error { return nil }

func keyOf(m metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}
}

// change emits the new state of the object with the name, unless it is unchanged: trimming removes heartbeats, for one.
func (s *store) change(now time.Time, key types.NamespacedName, obj runtime.Object) {
	old := s.objects[key]
	if old != nil && old.(metav1.Object).GetUID() != obj.(metav1.Object).GetUID() {
		s.remove(now, key, nil) // its deletion was missed
		old = nil
	}
	switch {
	case old == nil:
		s.objects[key] = obj
		s.hold(sizeOf(obj))
		s.source.changed(now, sources.Added, nil, obj)
	case !sameObject(old, obj):
		s.objects[key] = obj
		s.hold(sizeOf(obj) - sizeOf(old))
		s.source.changed(now, sources.Updated, old, obj)
	}
}

// remove emits the deletion of the object with the name. last is its final state, or nil if unknown.
func (s *store) remove(now time.Time, key types.NamespacedName, last runtime.Object) {
	old := s.objects[key]
	if old == nil {
		return
	}
	delete(s.objects, key)
	s.hold(-sizeOf(old))
	if last == nil {
		last = old
	}
	s.source.changed(now, sources.Deleted, old, last)
}

// sameObject reports whether two states of an object are equal but for their versions.
func sameObject(a, b runtime.Object) bool {
	ma, mb := a.(metav1.Object), b.(metav1.Object)
	if ma.GetResourceVersion() == mb.GetResourceVersion() {
		return true
	}
	switch a := a.(type) {
	case *corev1.Node:
		b := b.(*corev1.Node)
		return sameMeta(ma, mb) && equality.Semantic.DeepEqual(&a.Spec, &b.Spec) && equality.Semantic.DeepEqual(&a.Status, &b.Status)
	case *corev1.Pod:
		b := b.(*corev1.Pod)
		return sameMeta(ma, mb) && equality.Semantic.DeepEqual(&a.Status, &b.Status) && equality.Semantic.DeepEqual(&a.Spec, &b.Spec)
	}
	return false
}

func sameMeta(a, b metav1.Object) bool {
	return a.GetGeneration() == b.GetGeneration() && a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) &&
		reflect.DeepEqual(a.GetLabels(), b.GetLabels()) && reflect.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences())
}
