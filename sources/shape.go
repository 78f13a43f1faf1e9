package sources

import (
	"fmt"
	"reflect"
	"sync"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shape describes the parts of a type that must be checked. Reflection over all fields would take longer than all other
// processing of an object, and most fields need no check.
type shape struct {
	of     reflect.Type
	kind   reflect.Kind // of the type; Invalid if nothing must be checked
	elem   *shape       // of a pointer, a slice and a map
	key    *shape       // of a map
	fields []field      // of a struct: those that must be checked
	size   int          // in bytes, of the target of a pointer, of an element, of a member
	check  func(at unsafe.Pointer) error
}

// field is a field of a struct.
type field struct {
	offset uintptr
	*shape
}

// shapes returns the shapes of the most frequent kinds. The map never changes.
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

// newShape returns the shape of t. It uses and extends known: a type may contain itself.
func newShape(t reflect.Type, known map[reflect.Type]*shape) *shape {
	if s := known[t]; s != nil {
		return s
	}
	s := &shape{of: t, kind: t.Kind()}
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
					s.fields = append(s.fields, field{f.Offset, of})
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

// checkOf returns a function that checks an opaque type for excessive numbers and times.
func checkOf(t reflect.Type) func(at unsafe.Pointer) error {
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return func(at unsafe.Pointer) error {
			if huge(*(*resource.Quantity)(at)) {
				return errHuge
			}
			return nil
		}
	case reflect.TypeFor[metav1.MicroTime]():
		return func(at unsafe.Pointer) error { return checkSet((*metav1.MicroTime)(at).Time) }
	}
	return func(at unsafe.Pointer) error { return checkSet((*metav1.Time)(at).Time) }
}

// checkSet is CheckTime for a time that may be zero.
func checkSet(t time.Time) error {
	if t.IsZero() {
		return nil
	}
	return CheckTime(t)
}

// isSafeObject reports whether all strings in the target of v are plain, and measures it. It returns an error for
// excessive lists and numbers.
func (m *measured) isSafeObject(v reflect.Value) (safe bool, err error) {
	s := shapeOf(v.Type())
	*m += measured(s.size)
	return m.isSafe(v.UnsafePointer(), s.elem)
}

// isSafe is isSafeObject for a value of that shape at that address. Every object is checked, and creating a
// reflect.Value of each part would take longer than the check.
func (m *measured) isSafe(at unsafe.Pointer, s *shape) (safe bool, err error) {
	switch s.kind {
	case reflect.String:
		text := *(*string)(at)
		*m += measured(len(text))
		return isPlain(text) && len(text) <= MaxText, nil
	case reflect.Pointer:
		to := *(*unsafe.Pointer)(at)
		if to == nil {
			return true, nil
		}
		*m += measured(s.size)
		return m.isSafe(to, s.elem)
	case reflect.Interface:
		v := reflect.NewAt(s.of, at).Elem()
		if v.IsNil() {
			return true, nil
		}
		t := v.Elem().Type()
		*m += measured(t.Size())
		to := reflect.New(t)
		to.Elem().Set(v.Elem())
		return m.isSafe(to.UnsafePointer(), shapeOf(t))
	case reflect.Struct:
		if s.check != nil {
			return true, s.check(at)
		}
		safe = true
		for i := range s.fields {
			ok, err := m.isSafe(unsafe.Add(at, s.fields[i].offset), s.fields[i].shape)
			if err != nil {
				return false, err
			}
			safe = safe && ok
		}
		return safe, nil
	case reflect.Slice:
		return m.isSafeList(at, s)
	case reflect.Map:
		return m.isSafeMap(at, s)
	}
	return true, nil
}

func (m *measured) isSafeList(at unsafe.Pointer, s *shape) (safe bool, err error) {
	list := *(*[]struct{})(at) // of any type
	n := len(list)
	if n > maxList {
		return false, fmt.Errorf("a list has %d elements, and the limit is %d", n, maxList)
	}
	*m += measured(n * s.size)
	if s.elem.kind == reflect.Invalid {
		return true, nil
	}
	safe = true
	first := unsafe.Pointer(unsafe.SliceData(list))
	for i := range n {
		ok, err := m.isSafe(unsafe.Add(first, i*s.size), s.elem)
		if err != nil {
			return false, err
		}
		safe = safe && ok
	}
	return safe, nil
}

func (m *measured) isSafeMap(at unsafe.Pointer, s *shape) (safe bool, err error) {
	v := reflect.NewAt(s.of, at).Elem()
	n := v.Len()
	if n > maxList {
		return false, fmt.Errorf("a map has %d members, and the limit is %d", n, maxList)
	}
	if n == 0 {
		return true, nil
	}
	*m += 48 + measured((n+7)/8*8*s.size) // tables of at least eight members, which are seldom full
	switch {
	case s.key.kind == reflect.String && s.elem.kind == reflect.String:
		safe = true
		for key, value := range *(*map[string]string)(at) {
			*m += measured(len(key) + len(value))
			safe = safe && isPlain(key) && isPlain(value) && max(len(key), len(value)) <= MaxText
		}
		return safe, nil
	case s.key.kind == reflect.String && s.elem.of == reflect.TypeFor[resource.Quantity]():
		safe = true
		for key, value := range *(*map[string]resource.Quantity)(at) {
			*m += measured(len(key))
			if huge(value) {
				return false, errHuge
			}
			safe = safe && isPlain(key) && len(key) <= MaxText
		}
		return safe, nil
	}
	return m.isSafeAnyMap(v, s)
}

// isSafeAnyMap is isSafeMap for rare maps.
func (m *measured) isSafeAnyMap(v reflect.Value, s *shape) (safe bool, err error) {
	copied := func(v reflect.Value) unsafe.Pointer {
		to := reflect.New(v.Type())
		to.Elem().Set(v)
		return to.UnsafePointer()
	}
	safe = true
	for it := v.MapRange(); it.Next(); {
		isKey, err := m.isSafe(copied(it.Key()), s.key)
		if err != nil {
			return false, err
		}
		is, err := m.isSafe(copied(it.Value()), s.elem)
		if err != nil {
			return false, err
		}
		safe = safe && isKey && is
	}
	return safe, nil
}
