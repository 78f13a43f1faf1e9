package scenario

import (
	"reflect"
	"strings"
)

// Keys returns the keys that out, a pointer to a struct, has in YAML.
func Keys(out any) []string {
	var keys []string
	t := reflect.TypeOf(out).Elem()
	for i := range t.NumField() {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}
