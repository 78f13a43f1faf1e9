package sources

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestEveryTextIsLookedAt puts a control sequence into one text of an object at a time, or a number or a time out of
// all proportion, and none goes through: in the kinds whose shapes are kept and in the others alike.
func TestEveryTextIsLookedAt(t *testing.T) {
	for _, kind := range watched {
		obj := NewObject(kind[0], kind[1])
		places := 0
		for bad := 0; ; bad++ {
			v := reflect.New(reflect.TypeOf(obj).Elem())
			at := bad
			place := spoil(v.Elem(), kind[1], &at, map[reflect.Type]int{})
			if place == "" {
				break
			}
			places++
			var m measured
			if ok, err := m.isSafeObject(v); ok && err == nil {
				t.Errorf("%s is not looked at", place)
			}
		}
		if places < 10 {
			t.Errorf("%s has %d places", kind[1], places)
		}
	}
}

// spoil spoils the at-th place of v, and makes what it takes to come there. It returns where that is, or "" if there
// are not so many.
func spoil(v reflect.Value, name string, at *int, inside map[reflect.Type]int) string {
	t := v.Type()
	here := func() bool {
		*at--
		return *at == -1
	}
	switch {
	case t == reflect.TypeFor[resource.Quantity]():
		if here() {
			v.Set(reflect.ValueOf(resource.MustParse("1e31")))
			return name
		}
		return ""
	case t == reflect.TypeFor[metav1.Time](), t == reflect.TypeFor[metav1.MicroTime]():
		if here() {
			v.Field(0).Set(reflect.ValueOf(time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)))
			return name
		}
		return ""
	}
	switch t.Kind() {
	case reflect.String:
		if here() {
			v.SetString("\x1b[2J")
			return name
		}
	case reflect.Struct:
		if inside[t] > 0 {
			return ""
		}
		inside[t]++
		defer func() { inside[t]-- }()
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				if place := spoil(v.Field(i), name+"."+f.Name, at, inside); place != "" {
					return place
				}
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return spoil(v.Elem(), name, at, inside)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 2, 2))
		return spoil(v.Index(1), name+"[1]", at, inside)
	case reflect.Map:
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		key.SetString("a")
		place := spoil(key, name+"'s key", at, inside)
		if place == "" {
			place = spoil(value, name+fmt.Sprintf("[%s]", key), at, inside)
		}
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(key, value)
		return place
	}
	return ""
}
