package sources

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shape is what there is to look at in values of a type. Going through a type's fields one by one takes longer than
// all else that is done with an object, and most of them are numbers and what is never told.
type shape struct {
	kind   reflect.Kind // of the type; Invalid if there is nothing to look at
	elem   *shape       // of a pointer, a slice and a map
	key    *shape       // of a map
	fields []field      // of a struct: those in which there is something
	size   int          // in bytes, of what a pointer points to, of an element, of a member
	check  func(v reflect.Value) error
}

// field is one of a struct's.
type field struct {
	index int
	*shape
}

// shapes are those of the kinds that are decoded most often. It never changes once it is made.
var shapes = sync.OnceValue(func() map[reflect.Type]*shape {
	known := map[reflect.Type]*shape{}
	for _, t := range []reflect.Type{reflect.TypeFor[*corev1.Pod](), reflect.TypeFor[*corev1.Node](),
		reflect.TypeFor[*corev1.PersistentVolumeClaim](), reflect.TypeFor[*corev1.PersistentVolume]()} {
		newShape(t, known)
	}
	return known
})

// shapeOf returns the shape of t.
func shapeOf(t reflect.Type) *shape {
	if s := shapes()[t]; s != nil {
		return s
	}
	return newShape(t, map[reflect.Type]*shape{})
}

// newShape returns the shape of t. Those in known are used, and it adds to them: a type may hold itself.
func newShape(t reflect.Type, known map[reflect.Type]*shape) *shape {
	if s := known[t]; s != nil {
		return s
	}
	s := &shape{kind: t.Kind()}
	known[t] = s
	switch t.Kind() {
	case reflect.String, reflect.Interface:
	case reflect.Pointer, reflect.Slice:
		s.elem, s.size = newShape(t.Elem(), known), int(t.Elem().Size())
	case reflect.Map:
		s.key, s.elem = newShape(t.Key(), known), newShape(t.Elem(), known)
		s.size = int(t.Key().Size() + t.Elem().Size() + 1)
	case reflect.Struct:
		if opaque(t) {
			s.check = checkOf(t)
			break
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				if of := newShape(f.Type, known); of.kind != reflect.Invalid {
					s.fields = append(s.fields, field{i, of})
				}
			}
		}
		if len(s.fields) == 0 {
			s.kind = reflect.Invalid
		}
	default:
		s.kind = reflect.Invalid
	}
	return s
}

// checkOf returns what finds numbers and times out of all proportion in a type that is opaque.
func checkOf(t reflect.Type) func(v reflect.Value) error {
	if t == reflect.TypeFor[resource.Quantity]() {
		return func(v reflect.Value) error {
			if huge(*valueOf[resource.Quantity](v)) {
				return errHuge
			}
			return nil
		}
	}
	at := func(v reflect.Value) time.Time { return valueOf[metav1.Time](v).Time }
	if t == reflect.TypeFor[metav1.MicroTime]() {
		at = func(v reflect.Value) time.Time { return valueOf[metav1.MicroTime](v).Time }
	}
	return func(v reflect.Value) error {
		if t := at(v); !t.IsZero() {
			return CheckTime(t)
		}
		return nil
	}
}

// valueOf returns the T in v, without a copy where that can be had.
func valueOf[T any](v reflect.Value) *T {
	if v.CanAddr() {
		return v.Addr().Interface().(*T)
	}
	t := v.Interface().(T)
	return &t
}

// isSafe reports whether all strings in v, which is of that shape, are plain, and measures v. It returns an error for
// lists and numbers out of all proportion.
func (m *measured) isSafe(v reflect.Value, s *shape) (safe bool, err error) {
	switch s.kind {
	case reflect.String:
		text := v.String()
		*m += measured(len(text))
		return isPlain(text) && len(text) <= MaxText, nil
	case reflect.Pointer:
		if v.IsNil() {
			return true, nil
		}
		*m += measured(s.size)
		return m.isSafe(v.Elem(), s.elem)
	case reflect.Interface:
		if v.IsNil() {
			return true, nil
		}
		t := v.Elem().Type()
		*m += measured(t.Size())
		return m.isSafe(v.Elem(), shapeOf(t))
	case reflect.Struct:
		if s.check != nil {
			return true, s.check(v)
		}
		safe = true
		for i := range s.fields {
			ok, err := m.isSafe(v.Field(s.fields[i].index), s.fields[i].shape)
			if err != nil {
				return false, err
			}
			safe = safe && ok
		}
		return safe, nil
	case reflect.Slice:
		return m.isSafeList(v, s)
	case reflect.Map:
		return m.isSafeMap(v, s)
	}
	return true, nil
}

func (m *measured) isSafeList(v reflect.Value, s *shape) (safe bool, err error) {
	n := v.Len()
	if n > maxList {
		return false, fmt.Errorf("a list has %d elements, and the limit is %d", n, maxList)
	}
	*m += measured(n * s.size)
	safe = true
	for i := range n {
		ok, err := m.isSafe(v.Index(i), s.elem)
		if err != nil {
			return false, err
		}
		safe = safe && ok
	}
	return safe, nil
}

func (m *measured) isSafeMap(v reflect.Value, s *shape) (safe bool, err error) {
	n := v.Len()
	if n > maxList {
		return false, fmt.Errorf("a map has %d members, and the limit is %d", n, maxList)
	}
	if n == 0 {
		return true, nil
	}
	*m += 48 + measured((n+7)/8*8*s.size) // tables of eight members at least, which are seldom full
	safe = true
	for it := v.MapRange(); it.Next(); {
		for _, e := range []struct {
			reflect.Value
			*shape
		}{{it.Key(), s.key}, {it.Value(), s.elem}} {
			ok, err := m.isSafe(e.Value, e.shape)
			if err != nil {
				return false, err
			}
			safe = safe && ok
		}
	}
	return safe, nil
}
