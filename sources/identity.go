package sources

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources/jsonscan"
)

// maxIdentity limits the bytes of a name in Identity's text.
const maxIdentity = 100

// Identity returns the identity of an object that can't be decoded or trimmed: an object with only its kind, name and UID,
// as for a deletion, and a text such as "Pod default/web-1". The object is nil if its kind is unknown or its name invalid.
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
	text := Named(kind, namespace, name)
	obj := NewObject(apiVersion, kind)
	if obj == nil {
		return nil, text
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	m := obj.(metav1.Object)
	m.SetNamespace(namespace)
	m.SetName(name)
	m.SetUID(types.UID(uid))
	obj, err := Trim(obj)
	if err != nil {
		return nil, text
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, text
}

// Named returns a text such as "Pod default/web-1", safe to show and of limited length.
func Named(kind, namespace, name string) SafeText {
	short := func(s string) string { return string(Sanitize(s[:min(len(s), maxIdentity)])) }
	text := short(cmp.Or(name, "without a name"))
	if namespace != "" {
		text = short(namespace) + "/" + text
	}
	return SafeText(short(cmp.Or(kind, "an object")) + " " + text)
}
