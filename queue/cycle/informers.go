package cycle

import (
	"context"
	"errors"
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// kinds returns an object of each type that the scheduler and its plugins watch in v1.37.
func kinds() []runtime.Object {
	return []runtime.Object{
		&v1.Namespace{}, &storagev1.StorageClass{}, &storagev1.CSIDriver{}, &storagev1.CSINode{}, &storagev1.CSIStorageCapacity{},
		&storagev1.VolumeAttachment{}, &v1.PersistentVolume{}, &v1.PersistentVolumeClaim{}, &resourcev1.DeviceClass{}, &resourcev1.ResourceSlice{},
		&resourcev1.DeviceTaintRule{}, &resourcev1.ResourceClaim{}, &policyv1.PodDisruptionBudget{}, &v1.Service{}, &appsv1.ReplicaSet{},
		&appsv1.StatefulSet{}, &v1.ReplicationController{}, &v1.Node{}, &schedulingv1beta1.PodGroup{}, &v1.Pod{},
	}
}

// watches are informers whose objects the Scheduler's owner sets. Every handler has run when such a call returns, so
// upstream's caches, listers and event handlers receive the changes immediately and in order.
type watches struct {
	factory informers.SharedInformerFactory
	byType  map[reflect.Type]*informer
}

func newWatches(client kubernetes.Interface) *watches {
	w := &watches{factory: informers.NewSharedInformerFactory(client, 0), byType: map[reflect.Type]*informer{}}
	for _, kind := range kinds() {
		i := &informer{store: cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
		// The factory returns the first informer registered for a type.
		w.factory.InformerFor(kind, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return i })
		w.byType[reflect.TypeOf(kind)] = i
	}
	return w
}

// informerOf returns the informer for obj's type, or nil if the scheduler does not watch it.
func (w *watches) informerOf(obj runtime.Object) *informer { return w.byType[reflect.TypeOf(obj)] }

// get returns the stored object of the same type as example, or nil.
func (w *watches) get(example runtime.Object, namespace, name string) runtime.Object {
	key := name
	if namespace != "" {
		key = namespace + "/" + name
	}
	obj, ok, err := w.informerOf(example).store.GetByKey(key)
	if err != nil || !ok {
		return nil
	}
	return obj.(runtime.Object)
}

// informer is the store and the event handlers of one type. It implements cache.SharedIndexInformer. Only the
// Scheduler's owner changes it.
type informer struct {
	store    cache.Indexer
	handlers []cache.ResourceEventHandler
}

// put stores obj and calls the handlers.
func (i *informer) put(obj runtime.Object) error {
	old, exists, err := i.store.Get(obj)
	if err != nil {
		return err
	}
	if err := i.store.Update(obj); err != nil {
		return err
	}
	for _, h := range i.handlers {
		if exists {
			h.OnUpdate(old, obj)
		} else {
			h.OnAdd(obj, false)
		}
	}
	return nil
}

// remove deletes the object with obj's name and calls the handlers. As a watch does, it passes them the last state:
// obj, or the stored object if obj contains only a name.
func (i *informer) remove(obj runtime.Object) error {
	old, exists, err := i.store.Get(obj)
	if err != nil || !exists {
		return err
	}
	if m, err := meta.Accessor(obj); err != nil || m.GetResourceVersion() == "" {
		obj = old.(runtime.Object)
	}
	if err := i.store.Delete(obj); err != nil {
		return err
	}
	for _, h := range i.handlers {
		h.OnDelete(obj)
	}
	return nil
}

// AddEventHandler implements cache.SharedInformer. Handlers are added while the store is empty.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, h)
	return synced{}, nil
}

// AddEventHandlerWithResyncPeriod implements cache.SharedInformer without resyncs.
func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// AddEventHandlerWithOptions implements cache.SharedInformer.
func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// RemoveEventHandler implements cache.SharedInformer. The scheduler does not call it.
func (i *informer) RemoveEventHandler(cache.ResourceEventHandlerRegistration) error {
	return errors.New("removing event handlers is not supported")
}

// AddIndexers implements cache.SharedIndexInformer.
func (i *informer) AddIndexers(indexers cache.Indexers) error { return i.store.AddIndexers(indexers) }

// GetIndexer implements cache.SharedIndexInformer.
func (i *informer) GetIndexer() cache.Indexer { return i.store }

// GetStore implements cache.SharedInformer.
func (i *informer) GetStore() cache.Store { return i.store }

// The other methods of cache.SharedInformer concern watching, which this informer does not do.

func (i *informer) GetController() cache.Controller                    { return nil }
func (i *informer) Run(<-chan struct{})                                {}
func (i *informer) RunWithContext(context.Context)                     {}
func (i *informer) HasSynced() bool                                    { return true }
func (i *informer) HasSyncedChecker() cache.DoneChecker                { return synced{} }
func (i *informer) LastSyncResourceVersion() string                    { return "" }
func (i *informer) SetWatchErrorHandler(cache.WatchErrorHandler) error { return nil }
func (i *informer) SetTransform(cache.TransformFunc) error             { return nil }
func (i *informer) IsStopped() bool                                    { return false }
func (i *informer) SetWatchErrorHandlerWithContext(cache.WatchErrorHandlerWithContext) error {
	return nil
}

// synced is a registration that has always synced.
type synced struct{}

func (synced) HasSynced() bool                     { return true }
func (synced) HasSyncedChecker() cache.DoneChecker { return synced{} }
func (synced) Name() string                        { return "synced" }

// Done returns a closed channel.
func (synced) Done() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
