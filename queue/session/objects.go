package session

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/tidwall/btree"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// objects are the API objects of a cluster at one moment. A copy shares with it all that does not change.
type objects struct{ tree *btree.BTreeG[object] }

// object is an API object and what it is found by.
type object struct {
	kind            string
	namespace, name string
	obj             runtime.Object
}

func newObjects() objects {
	return objects{btree.NewBTreeGOptions(func(a, b object) bool {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name)) < 0
	}, btree.Options{NoLocks: true})}
}

// kindOf returns the name of an object's type, which is its kind.
func kindOf(obj runtime.Object) string { return reflect.TypeOf(obj).Elem().Name() }

func keyed(obj runtime.Object) (object, bool) {
	m, ok := obj.(metav1.Object)
	if !ok {
		return object{}, false
	}
	return object{kindOf(obj), m.GetNamespace(), m.GetName(), obj}, true
}

// put keeps obj in place of what had its name.
func (o objects) put(obj runtime.Object) {
	if k, ok := keyed(obj); ok {
		o.tree.Set(k)
	}
}

// remove forgets the object of obj's name.
func (o objects) remove(obj runtime.Object) {
	if k, ok := keyed(obj); ok {
		o.tree.Delete(k)
	}
}

// get returns what has the kind and the name of obj, or nil.
func (o objects) get(obj runtime.Object) runtime.Object {
	k, ok := keyed(obj)
	if !ok {
		return nil
	}
	found, _ := o.tree.Get(k)
	return found.obj
}

// pod returns the named pod, or nil.
func (o objects) pod(key types.NamespacedName) *v1.Pod {
	found, _ := o.tree.Get(object{kind: "Pod", namespace: key.Namespace, name: key.Name})
	pod, _ := found.obj.(*v1.Pod)
	return pod
}

// each yields the objects of a kind in the order of their names, all kinds if it is empty.
func (o objects) each(kind string, yield func(runtime.Object) bool) {
	o.tree.Ascend(object{kind: kind}, func(found object) bool {
		if kind != "" && found.kind != kind {
			return false
		}
		return yield(found.obj)
	})
}

// node returns the named node, or nil.
func (o objects) node(name string) *v1.Node {
	found, _ := o.tree.Get(object{kind: "Node", name: name})
	node, _ := found.obj.(*v1.Node)
	return node
}

func (o objects) copy() objects { return objects{o.tree.Copy()} }

// count returns how many objects of a kind there are.
func (o objects) count(kind string) int {
	n := 0
	o.each(kind, func(runtime.Object) bool { n++; return true })
	return n
}
