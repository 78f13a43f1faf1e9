package cluster

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/tidwall/btree"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Objects are the API objects of a cluster at one moment. Copies share what does not change.
type Objects struct{ Tree *btree.BTreeG[object] }

// object is an API object with its key.
type object struct {
	kind            string
	namespace, name string
	Obj             runtime.Object
}

// NewObjects returns an empty set of objects.
func NewObjects() Objects {
	return Objects{btree.NewBTreeGOptions(func(a, b object) bool {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name)) < 0
	}, btree.Options{NoLocks: true})}
}

// kindOf returns the name of an object's type, which is its kind.
func kindOf(obj runtime.Object) string { return reflect.TypeOf(obj).Elem().Name() }

// keyed returns obj with its key, and false if it has no name.
func keyed(obj runtime.Object) (object, bool) {
	m, ok := obj.(metav1.Object)
	if !ok {
		return object{}, false
	}
	return object{kindOf(obj), m.GetNamespace(), m.GetName(), obj}, true
}

// Put adds obj, replacing the object with its kind and name.
func (o Objects) Put(obj runtime.Object) {
	if k, ok := keyed(obj); ok {
		o.Tree.Set(k)
	}
}

// Remove removes the object with obj's kind and name.
func (o Objects) Remove(obj runtime.Object) {
	if k, ok := keyed(obj); ok {
		o.Tree.Delete(k)
	}
}

// Apply applies c to the objects.
func (o Objects) Apply(c *sources.ObjectChange) {
	if c.Verb == sources.Deleted {
		o.Remove(c.Object)
	} else {
		o.Put(c.Object)
	}
}

// Get returns the object with obj's kind and name, or nil.
func (o Objects) Get(obj runtime.Object) runtime.Object {
	k, ok := keyed(obj)
	if !ok {
		return nil
	}
	found, _ := o.Tree.Get(k)
	return found.Obj
}

// LacksPod reports whether obj is a pod that is gone or was replaced by another with its name.
func (o Objects) LacksPod(obj runtime.Object) bool {
	pod, is := obj.(*v1.Pod)
	there, ok := o.Get(obj).(*v1.Pod)
	return is && (!ok || there.UID != pod.UID)
}

// Pod returns the named pod, or nil.
func (o Objects) Pod(key types.NamespacedName) *v1.Pod {
	found, _ := o.Tree.Get(object{kind: "Pod", namespace: key.Namespace, name: key.Name})
	pod, _ := found.Obj.(*v1.Pod)
	return pod
}

// HasNode reports whether the named pod exists and is bound.
func (o Objects) HasNode(key types.NamespacedName) bool {
	pod := o.Pod(key)
	return pod != nil && pod.Spec.NodeName != ""
}

// Each yields the objects of a kind, or of all kinds if it is empty, sorted by name.
func (o Objects) Each(kind string, yield func(runtime.Object) bool) {
	o.Tree.Ascend(object{kind: kind}, func(found object) bool {
		if kind != "" && found.kind != kind {
			return false
		}
		return yield(found.Obj)
	})
}

// Node returns the named node, or nil.
func (o Objects) Node(name string) *v1.Node {
	found, _ := o.Tree.Get(object{kind: "Node", name: name})
	node, _ := found.Obj.(*v1.Node)
	return node
}

// Copy returns a copy that can be changed without changing o.
func (o Objects) Copy() Objects { return Objects{o.Tree.Copy()} }

// Count returns how many objects of a kind there are.
func (o Objects) Count(kind string) int {
	n := 0
	o.Each(kind, func(runtime.Object) bool { n++; return true })
	return n
}

// Names yields the names of the objects of a kind, sorted.
func (o Objects) Names(kind string, yield func(namespace, name string) bool) {
	o.Tree.Ascend(object{kind: kind}, func(found object) bool { return found.kind == kind && yield(found.namespace, found.name) })
}
