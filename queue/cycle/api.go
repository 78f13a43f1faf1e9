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

// Write is something that the scheduler or one of its plugins asked the API server for.
type Write struct {
	// Object is what the object would become, with the server's answer taken for granted.
	Object runtime.Object
	// Status is true if only the object's status was written.
	Status bool
	// New is true if the object was created.
	New bool
}

// api stands where the API server would: whatever the scheduler and its plugins write comes here and
// goes nowhere else. It answers every request from the model's own objects and keeps the writes for the
// Scheduler's owner. It is an http.RoundTripper.
type api struct {
	watches *watches   // for reading; set once
	now     *time.Time // the Scheduler's

	mu       sync.Mutex // upstream's goroutines write too
	writes   []Write
	revision uint64 // the last resourceVersion that was given out
}

// client returns a client whose requests all end in a.
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
	answer, code := a.serve(req.Method, target(req.URL.Path), req.Header.Get("Content-Type"), body)
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)), Request: req,
	}, nil
}

// requested is what a request's path names.
type requested struct{ kind, namespace, name, subresource string }

// target reads /api/v1/namespaces/NS/pods/NAME/status and its like.
func target(path string) requested {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	before := 3
	if parts[0] == "api" { // the core group has no name
		before = 2
	}
	parts = parts[min(before, len(parts)):]
	var r requested
	if len(parts) > 2 && parts[0] == "namespaces" {
		r.namespace, parts = parts[1], parts[2:]
	}
	for i, to := range []*string{&r.kind, &r.name, &r.subresource} {
		if i < len(parts) {
			*to = parts[i]
		}
	}
	return r
}

// example returns an empty object of the resource's kind, or nil if no plugin writes such objects.
func (r requested) example() runtime.Object {
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

func (a *api) serve(method string, r requested, contentType string, body []byte) (any, int) {
	example := r.example()
	if example == nil {
		return refusal(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "the model has no %s to write to", r.kind)
	}
	if method == http.MethodPost && r.subresource == "" {
		return a.create(example, r, body)
	}
	stored := a.watches.get(example, r.namespace, r.name)
	if stored == nil {
		return refusal(http.StatusNotFound, metav1.StatusReasonNotFound, "%s %q not found", r.kind, r.name)
	}
	switch method {
	case http.MethodGet:
		return stored, http.StatusOK
	case http.MethodPost:
		return a.bind(stored, body)
	case http.MethodPut:
		return a.replace(example, r, body)
	case http.MethodPatch:
		return a.patch(stored, example, r, contentType, body)
	}
	return refusal(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "the model does not take %s", method)
}

func (a *api) create(obj runtime.Object, r requested, body []byte) (any, int) {
	if err := json.Unmarshal(body, obj); err != nil {
		return refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
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
		return refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "this is no binding: %v", err)
	}
	conflict := func(format string, args ...any) (any, int) {
		return refusal(http.StatusConflict, metav1.StatusReasonConflict, format, args...)
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

func (a *api) replace(obj runtime.Object, r requested, body []byte) (any, int) {
	if err := json.Unmarshal(body, obj); err != nil {
		return refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
	}
	MakeDevicesReady(obj, *a.now)
	return a.wrote(Write{Object: obj, Status: r.subresource == "status"}), http.StatusOK
}

func (a *api) patch(stored, obj runtime.Object, r requested, contentType string, patch []byte) (any, int) {
	if !strings.HasPrefix(contentType, "application/strategic-merge-patch+json") {
		return refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "the model does not take patches of type %s", contentType)
	}
	if pod, ok := stored.(*v1.Pod); ok && r.subresource == "status" {
		return a.patchStatus(pod, patch)
	}
	if err := merge(stored, patch, obj); err != nil {
		return refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
	}
	if group, ok := obj.(*schedulingv1beta1.PodGroup); ok {
		for i := range group.Status.Conditions { // upstream took the wall clock's time
			group.Status.Conditions[i].LastTransitionTime = metav1.NewTime(*a.now)
		}
	}
	return a.wrote(Write{Object: obj, Status: r.subresource == "status"}), http.StatusOK
}

// patchStatus is what the scheduler does after most attempts. Only the status is decoded, and only that and
// the names are answered: the rest of the pod stays, and nobody reads it from the answer.
func (a *api) patchStatus(stored *v1.Pod, patch []byte) (any, int) {
	var with v1.Pod
	if err := merge(&v1.Pod{Status: stored.Status}, patch, &with); err != nil {
		return refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, "%v", err)
	}
	pod := *stored
	pod.Status = with.Status
	a.stamp(stored, &pod)
	a.wrote(Write{Object: &pod, Status: true})
	return &v1.Pod{
		TypeMeta:   metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion},
		Status:     pod.Status,
	}, http.StatusOK
}

// merge makes of obj what patch makes of stored.
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

// stamp gives the conditions that are new in pod the model's time: upstream took the wall clock's.
func (a *api) stamp(old, pod *v1.Pod) {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		_, before := podutil.GetPodCondition(&old.Status, c.Type)
		if before == nil || !before.LastTransitionTime.Equal(&c.LastTransitionTime) {
			c.LastTransitionTime = metav1.NewTime(*a.now)
		}
	}
}

// wrote keeps w and returns its object. It gets a newer resourceVersion than it had: upstream takes no
// notice of an object that has the version of the one before.
func (a *api) wrote(w Write) runtime.Object {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := w.Object.(metav1.Object)
	had, _ := strconv.ParseUint(m.GetResourceVersion(), 10, 64) // a new object has none
	a.revision = max(a.revision, had) + 1
	m.SetResourceVersion(strconv.FormatUint(a.revision, 10))
	a.writes = append(a.writes, w)
	return w.Object
}

func refusal(code int, reason metav1.StatusReason, format string, args ...any) (any, int) {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: fmt.Sprintf(format, args...),
	}, code
}
