package sources

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	resourcev1 "k8s.io/api/resource/v1"
)

// maxList is how many elements a list or a map of a trimmed object may have. The longest real ones, a budget's
// disrupted pods, have 2,000.
const maxList = 4096

// safeObject returns obj with every string in it sanitised, or obj itself if that changes nothing,
// which is nearly always so, and about how many bytes it takes.
func safeObject(obj runtime.Object) (runtime.Object, int, error) {
	var size measured
	plain, err := size.isSafe(reflect.ValueOf(obj))
	if err != nil {
		return nil, 0, fmt.Errorf("%s %s: %w", obj.GetObjectKind().GroupVersionKind().Kind, nameOf(obj), err)
	}
	if plain {
		return obj, int(size), nil
	}
	obj = obj.DeepCopyObject()
	makeSafe(reflect.ValueOf(obj))
	return obj, int(size), nil
}

func nameOf(obj runtime.Object) string {
	if m, ok := obj.(metav1.Object); ok {
		return m.GetName()
	}
	return ""
}

// opaque reports whether t is a struct that holds no text from outside.
func opaque(t reflect.Type) bool {
	return t == reflect.TypeFor[resource.Quantity]() || t == reflect.TypeFor[metav1.Time]() || t == reflect.TypeFor[metav1.MicroTime]()
}

// checkOpaque returns an error for numbers and times out of all proportion.
func checkOpaque(v any) error {
	var t time.Time
	switch v := v.(type) {
	case resource.Quantity:
		if huge(v) {
			return errHuge
		}
		return nil
	case metav1.Time:
		t = v.Time
	case metav1.MicroTime:
		t = v.Time
	}
	if t.IsZero() {
		return nil
	}
	return CheckTime(t)
}

// isSafe reports whether all strings in v are plain, and measures v. It returns an error for lists and numbers
// out of all proportion.
func (m *measured) isSafe(v reflect.Value) (bool, error) {
	switch v.Kind() {
	case reflect.String:
		s := v.String()
		*m += measured(len(s))
		return isPlain(s) && len(s) <= MaxText, nil
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return true, nil
		}
		m.add(1, v.Elem().Type())
		return m.isSafe(v.Elem())
	case reflect.Struct:
		t := v.Type()
		if opaque(t) {
			return true, checkOpaque(v.Interface())
		}
		safe := true
		for i := range v.NumField() {
			if !t.Field(i).IsExported() {
				continue
			}
			ok, err := m.isSafe(v.Field(i))
			if err != nil {
				return false, err
			}
			safe = safe && ok
		}
		return safe, nil
	case reflect.Slice:
		if v.Len() > maxList {
			return false, fmt.Errorf("a list has %d elements, and the limit is %d", v.Len(), maxList)
		}
		m.add(v.Len(), v.Type().Elem())
		safe := true
		for i := range v.Len() {
			ok, err := m.isSafe(v.Index(i))
			if err != nil {
				return false, err
			}
			safe = safe && ok
		}
		return safe, nil
	case reflect.Map:
		if v.Len() > maxList {
			return false, fmt.Errorf("a map has %d members, and the limit is %d", v.Len(), maxList)
		}
		m.mapOf(v)
		safe := true
		for it := v.MapRange(); it.Next(); {
			for _, e := range []reflect.Value{it.Key(), it.Value()} {
				ok, err := m.isSafe(e)
				if err != nil {
					return false, err
				}
				safe = safe && ok
			}
		}
		return safe, nil
	}
	return true, nil
}

// makeSafe sanitises every string in v, which must be owned by the caller.
func makeSafe(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(string(Sanitize(v.String())))
	case reflect.Pointer:
		if !v.IsNil() {
			makeSafe(v.Elem())
		}
	case reflect.Struct:
		t := v.Type()
		if opaque(t) {
			return
		}
		if cel, ok := v.Addr().Interface().(*resourcev1.CELDeviceSelector); ok {
			cel.Expression = safeLines(cel.Expression)
			return
		}
		for i := range v.NumField() {
			if t.Field(i).IsExported() {
				makeSafe(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			makeSafe(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			key, value := reflect.New(it.Key().Type()).Elem(), reflect.New(it.Value().Type()).Elem()
			key.Set(it.Key())
			value.Set(it.Value())
			makeSafe(key)
			makeSafe(value)
			out.SetMapIndex(key, value)
		}
		v.Set(out)
	}
}

// safeLines sanitises a program of several lines. Its line ends stay, because they end comments: a CEL
// expression is run, and must be sanitised again before it is shown.
func safeLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = string(Sanitize(strings.ReplaceAll(strings.TrimSuffix(l, "\r"), "\t", "    ")))
	}
	return strings.Join(lines, "\n")
}
