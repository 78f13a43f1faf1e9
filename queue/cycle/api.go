package cycle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/features"
)

// Write is a write request of the scheduler or of a plugin to the API server.
type Write struct {
	// Object is the object after the write, which is assumed to succeed.
	Object runtime.Object
	// Status is true if the request wrote only the object's status.
	Status bool
	// New is true if the request created the object.
	New bool
}

// api replaces the API server. It is an http.RoundTripper that answers requests from the stored objects and keeps
// the writes for the Scheduler's owner.
type api struct {
	watches *watches   // for reading; set once
	now     *time.Time // Scheduler.now

	mu       sync.Mutex // upstream writes from several goroutines
	writes   []Write
	revision uint64 // last resourceVersion assigned
}

// client returns a client that sends its requests to a.
func (a *api) client() (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(&rest.Config{
		Host: "http://model.invalid", Transport: a, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}, // not protobuf, the default of some calls
	})
}

// takeWrites returns the writes since the last call.
func (a *api) takeWrites() []Write {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.writes
	a.writes = nil
	return w
}

// RoundTrip implements http.RoundTripper.
func (a *api) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		defer req.Body.Close()
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	response, code := a.serve(req.Method, parsePath(req.URL.Path), req.Header.Get("Content-Type"), body)
	text, err := json.Marshal(response)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)), Request: req,
	}, nil
}

// requestPath identifies the object of a request.
type requestPath struct{ kind, namespace, name, subresource string }

// parsePath parses paths such as /api/v1/namespaces/NS/pods/NAME/status.
func parsePath(path string) requestPath {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	prefix := 3 // "apis", group and version
	if parts[0] == "api" {
		prefix = 2
	}
	parts = parts[min(prefix, len(parts)):]
	var r requestPath
	if len(parts) > 2 && parts[0] == "namespaces" {
		r.namespace, parts = parts[1], parts[2:]
	}
	for i, field := range []*string{&r.kind, &r.name, &r.subresource} {
		if i < len(parts) {
			*field = parts[i]
		}
	}
	return r
}

// newObject returns an empty object of the resource's kind, or nil if no plugin writes such objects.
func (r requestPath) newObject() runtime.Object {
	switch r.kind {
	case "pods":
		return &v1.Pod{}
	case "persistentvolumeclaims":
		return &v1.PersistentVolumeClaim{}
	case "persistentvolumes":
		return &v1.PersistentVolume{}
	case "resourceclaims":
		return &resourcev1.ResourceClaim{}
	case "podgroups":
		return &schedulingv1beta1.PodGroup{}
	}
	return nil
}

func (a *api) serve(method string, r requestPath, contentType string, body []byte) (any, int) {
	obj := r.newObject()
	if obj == nil {
		return failure(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "%s are not supported", r.kind)
	}
	if method == http.MethodPost && r.subresource == "" {
		return a.create(obj, r, body)
	}
	stored := a.watches.get(obj, r.namespace, r.name)
	if stored == nil {
		return failure(http.StatusNotFound, metav1.StatusReasonNotFound, "%s %q not found", r.kind, r.name)
	}
	switch method {
	case http.MethodGet:
		return stored, http.StatusOK
	case http.MethodPost:
		return a.bind(stored, body)
	case http.MethodPut:
		return a.replace(obj, r, body)
	case http.MethodPatch:
		return a.patch(stored, obj, r, contentType, body)
	}
	return failure(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "method %s is not supported", method)
}

func (a *api) create(obj runtime.Object, r requestPath, body []byte) (any, int) {
	if err := json.Unmarshal(body, obj); err != nil {
		return failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
	}
	m := obj.(metav1.Object)
	m.SetNamespace(r.namespace)
	if m.GetName() == "" {
		m.SetName(m.GetGenerateName() + "model")
	}
	m.SetUID(uid(r.kind, r.namespace, m.GetName()))
	return a.wrote(Write{Object: obj, New: true}), http.StatusCreated
}

// bind models setPodNodeAndMetadata of pkg/registry/core/pod/storage/storage.go.
func (a *api) bind(stored runtime.Object, body []byte) (any, int) {
	pod, ok := stored.(*v1.Pod)
	var binding v1.Binding
	if err := json.Unmarshal(body, &binding); err != nil || !ok {
		return failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, "invalid binding: %v", err)
	}
	conflict := func(format string, args ...any) (any, int) {
		return failure(http.StatusConflict, metav1.StatusReasonConflict, format, args...)
	}
	switch {
	case binding.UID != "" && binding.UID != pod.UID:
		return conflict("pod %s has UID %s, not %s", pod.Name, pod.UID, binding.UID)
	case pod.DeletionTimestamp != nil:
		return conflict("pod %s is being deleted, cannot be assigned to a host", pod.Name)
	case pod.Spec.NodeName != "":
		return conflict("pod %s is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) != 0:
		return conflict("pod %s has non-empty .spec.schedulingGates", pod.Name)
	}
	bound := pod.DeepCopy()
	bound.Spec.NodeName = binding.Target.Name
	if utilfeature.DefaultFeatureGate.Enabled(features.ClearingNominatedNodeNameAfterBinding) {
		bound.Status.NominatedNodeName = ""
	}
	podutil.UpdatePodCondition(&bound.Status, &v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue})
	a.stamp(pod, bound)
	a.wrote(Write{Object: bound})
	return &metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated}, http.StatusCreated
}

func (a *api) replace(obj runtime.Object, r requestPath, body []byte) (any, int) {
	if err := json.Unmarshal(body, obj); err != nil {
		return failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
	}
	makeDevicesReady(obj, *a.now)
	return a.wrote(Write{Object: obj, Status: r.subresource == "status"}), http.StatusOK
}

func (a *api) patch(stored, obj runtime.Object, r requestPath, contentType string, patch []byte) (any, int) {
	if !strings.HasPrefix(contentType, "application/strategic-merge-patch+json") {
		return failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, "patch type %s is not supported", contentType)
	}
	if pod, ok := stored.(*v1.Pod); ok && r.subresource == "status" {
		return a.patchStatus(pod, patch)
	}
	if err := merge(stored, patch, obj); err != nil {
		return failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
	}
	if group, ok := obj.(*schedulingv1beta1.PodGroup); ok {
		for i := range group.Status.Conditions { // upstream uses the wall clock
			group.Status.Conditions[i].LastTransitionTime = metav1.NewTime(*a.now)
		}
	}
	return a.wrote(Write{Object: obj, Status: r.subresource == "status"}), http.StatusOK
}

// patchStatus patches a pod's status, as the scheduler does after most attempts. For speed, it decodes and returns
// the status and the metadata only: no caller reads the rest.
func (a *api) patchStatus(stored *v1.Pod, patch []byte) (any, int) {
	var patched v1.Pod
	if err := merge(&v1.Pod{Status: stored.Status}, patch, &patched); err != nil {
		return failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
	}
	pod := *stored
	pod.Status = patched.Status
	a.stamp(stored, &pod)
	a.wrote(Write{Object: &pod, Status: true})
	return &v1.Pod{
		TypeMeta:   metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion},
		Status:     pod.Status,
	}, http.StatusOK
}

// merge applies patch to stored and decodes the result into obj.
func merge(stored runtime.Object, patch []byte, obj runtime.Object) error {
	before, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, obj)
	if err != nil {
		return err
	}
	return json.Unmarshal(after, obj)
}

// stamp sets the transition time of pod's new conditions to the model's time: upstream uses the wall clock.
func (a *api) stamp(old, pod *v1.Pod) {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		_, before := podutil.GetPodCondition(&old.Status, c.Type)
		if before == nil || !before.LastTransitionTime.Equal(&c.LastTransitionTime) {
			c.LastTransitionTime = metav1.NewTime(*a.now)
		}
	}
}

// wrote records w and returns its object with a newer resourceVersion: upstream ignores updates that do not change
// the version.
func (a *api) wrote(w Write) runtime.Object {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := w.Object.(metav1.Object)
	old, _ := strconv.ParseUint(m.GetResourceVersion(), 10, 64) // 0 for a new object
	a.revision = max(a.revision, old) + 1
	m.SetResourceVersion(strconv.FormatUint(a.revision, 10))
	a.writes = append(a.writes, w)
	return w.Object
}

func failure(code int, reason metav1.StatusReason, format string, args ...any) (any, int) {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: fmt.Sprintf(format, args...),
	}, code
}
