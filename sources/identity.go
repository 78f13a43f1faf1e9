package sources

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources/jsonscan"
)

// maxIdentity is how long a name in Identity's text can be, in bytes.
const maxIdentity = 100

// Identity returns who an object is that cannot be decoded or trimmed: an object of its kind with its name and
// UID alone, as is told of one that is deleted, and "Pod default/web-1" for a person. The object is nil if not
// even that can be taken.
func Identity(raw []byte) (runtime.Object, SafeText) {
	var apiVersion, kind, namespace, name, uid string
	_ = jsonscan.Members(raw, func(member, value []byte) bool {
		switch string(member) {
		case "apiVersion":
			apiVersion = string(jsonscan.Text(value))
		case "kind":
			kind = string(jsonscan.Text(value))
		case "metadata":
			_ = jsonscan.Members(value, func(member, value []byte) bool {
				switch string(member) {
				case "namespace":
					namespace = string(jsonscan.Text(value))
				case "name":
					name = string(jsonscan.Text(value))
				case "uid":
					uid = string(jsonscan.Text(value))
				}
				return true
			})
		}
		return true
	})
	said := Named(kind, namespace, name)
	obj := NewObject(apiVersion, kind)
	if obj == nil {
		return nil, said
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	m := obj.(metav1.Object)
	m.SetNamespace(namespace)
	m.SetName(name)
	m.SetUID(types.UID(uid))
	obj, err := Trim(obj)
	if err != nil {
		return nil, said
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, said
}

// Named is "Pod default/web-1", safe to show and of a bounded length.
func Named(kind, namespace, name string) SafeText {
	short := func(s string) string { return string(Sanitize(s[:min(len(s), maxIdentity)])) }
	said := short(cmp.Or(name, "without a name"))
	if namespace != "" {
		said = short(namespace) + "/" + said
	}
	return SafeText(short(cmp.Or(kind, "an object")) + " " + said)
}
