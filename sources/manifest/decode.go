package manifest

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/schedq/schedq/sources"
)

// newObject returns an empty object of a kind that affects scheduling.
func newObject(apiVersion, kind string) runtime.Object {
	switch apiVersion + " " + kind {
	case "apps/v1 Deployment":
		return &appsv1.Deployment{}
	case "apps/v1 DaemonSet":
		return &appsv1.DaemonSet{}
	case "batch/v1 Job":
		return &batchv1.Job{}
	case "batch/v1 CronJob":
		return &batchv1.CronJob{}
	case "resource.k8s.io/v1 ResourceClaimTemplate", "resource.k8s.io/v1beta2 ResourceClaimTemplate":
		return &resourcev1.ResourceClaimTemplate{}
	}
	return sources.NewObject(apiVersion, kind)
}

// strict decodes like the API server for `kubectl apply --validate=strict`. It has no registered types, so it decodes into
// any object.
var strict = serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, runtime.NewScheme(), runtime.NewScheme(),
	serializer.SerializerOptions{Strict: true})

// decode returns the object, or nil if its kind does not affect scheduling.
func (d *document) decode() (runtime.Object, error) {
	gv, err := schema.ParseGroupVersion(d.apiVersion)
	if err != nil {
		return nil, d.errorf("apiVersion", "%s is not an apiVersion", quote(d.apiVersion))
	}
	obj := newObject(d.apiVersion, d.kind)
	if obj == nil {
		return nil, d.unread(gv.WithKind(d.kind))
	}
	if err := d.checkNumbers(); err != nil {
		return nil, err
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	if err := sources.Guard(d.json, "it", func(raw []byte) error {
		reflect.ValueOf(obj).Elem().SetZero()
		_, _, err := strict.Decode(raw, nil, obj)
		return err
	}); err != nil {
		return nil, d.decodingError(err)
	}
	if gvk.Kind == "" {
		gvk = gv.WithKind(d.kind)
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, nil
}

// unread returns an error unless the kind can be skipped: a typo in a kind must be reported.
func (d *document) unread(gvk schema.GroupVersionKind) error {
	if !scheme.Scheme.IsGroupRegistered(gvk.Group) && gvk.Group != "extensions" {
		return nil // somebody's own
	}
	for _, v := range append(scheme.Scheme.PrioritizedVersionsForGroup(gvk.Group), appsv1.SchemeGroupVersion) {
		if newObject(v.String(), gvk.Kind) != nil {
			return d.errorf("apiVersion", "%s has the apiVersion %s: only %s is read", d.title(), quote(d.apiVersion), v)
		}
	}
	if !scheme.Scheme.Recognizes(gvk) {
		return d.errorf("kind", "Kubernetes has no kind %s in %s", quote(d.kind), quote(d.apiVersion))
	}
	return nil
}

// quantities are the fields that contain named quantities, and sizes those that are quantities.
var (
	quantities = []string{"requests", "limits", "capacity", "allocatable", "allocatedResources", "overhead"}
	sizes      = []string{"sizeLimit", "divisor"}
)

// checkNumbers returns an error about an invalid or excessive quantity: the decoder does not report which one it is, and
// would take long to parse some.
func (d *document) checkNumbers() (err error) {
	walk(d.json, func(path []string, tok json.Token, _ int) bool {
		text, isText := tok.(string)
		if n, ok := tok.(json.Number); ok {
			text = n.String()
		} else if !isText {
			return true
		}
		n := len(path)
		if n > 1 && slices.Contains(quantities, path[n-2]) || n > 0 && slices.Contains(sizes, path[n-1]) {
			if _, bad := sources.ParseQuantity(text); bad != nil {
				err = d.errorAt(d.lineOf(path), "%s of %s is %w: %s", join(path), d.title(), bad, quote(text))
			}
		}
		return err == nil
	})
	return err
}

// decodingError returns the first problem and its position.
func (d *document) decodingError(err error) error {
	if s, ok := runtime.AsStrictDecodingError(err); ok {
		first := s.Errors()[0]
		var field interface{ FieldPath() string }
		if errors.As(first, &field) {
			path := field.FieldPath()
			what := "has no field"
			if strings.HasPrefix(first.Error(), "duplicate") {
				what = "has twice the field"
			}
			return d.errorf(path, "%s %s %s", d.title(), what, quote(path))
		}
		return d.errorf("", "%s cannot be decoded: %s", d.title(), short(first.Error()))
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		at := steps(wrong.Field)
		// The decoder's path lacks list elements and map keys, but it reports an offset in the JSON.
		walk(d.json, func(path []string, _ json.Token, end int) bool {
			if int64(end) == wrong.Offset {
				at = slices.Clone(path)
			}
			return int64(end) < wrong.Offset
		})
		return d.errorAt(d.lineOf(at), "%s of %s must be %s and is %s", join(at), d.title(), sort(wrong.Type), short(wrong.Value))
	}
	return d.errorf("", "%s cannot be decoded: %s", d.title(), short(err.Error()))
}

// sort returns the usual name of a type.
func sort(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string (in quotes)"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	}
	return short(t.String())
}
