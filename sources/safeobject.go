package sources

import (
	"fmt"
	"reflect"
	"strings"

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
	plain, err := size.isSafeObject(reflect.ValueOf(obj))
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
