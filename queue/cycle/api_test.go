package cycle

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// TestNothingLeaves checks that the clients of upstream's plugins talk to the model only.
func TestNothingLeaves(t *testing.T) {
	// Whoever went around the model's transport would take this one.
	was := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = was })
	http.DefaultTransport = refusing{t}

	st := newStory(t, aNode("one"), at("one", aPod("low", requests("cpu", "3"))), aDeviceClass("gpu"), aSlice("one", "gpu-0"), aDeviceClaim("mine", "gpu"))
	st.binds(aPod("web", usesDevice("mine")))
	st.tries(aPod("high", requests("cpu", "2"), priority(10)))
	for name, profile := range st.profiles {
		client := profile.ClientSet().CoreV1()
		if host := client.RESTClient().Get().URL().Host; host != "model.invalid" {
			t.Errorf("client of %s talks to %s", name, host)
		}
		if config := profile.KubeConfig(); config != nil {
			t.Errorf("%s has a kubeconfig: %+v", name, config)
		}
		if _, err := client.Nodes().List(context.Background(), metav1.ListOptions{}); !apierrors.IsMethodNotSupported(err) {
			t.Errorf("a list of nodes: %v", err)
		}
	}
}

// refusing is an http.RoundTripper that must not be used.
type refusing struct{ t *testing.T }

// RoundTrip implements http.RoundTripper.
func (r refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	r.t.Errorf("%s %s leaves the process", req.Method, req.URL)
	return nil, io.ErrUnexpectedEOF
}

// TestAPI checks that the model responds to the scheduler's requests like an API server.
func TestAPI(t *testing.T) {
	st := newStory(t, aNode("one"), aVolume("disk", "now", "", v1.LabelHostname, "one"))
	st.revision = 40
	st.put(aPod("web", func(p *v1.Pod) { p.Status.Message = "kept" }), at("one", aPod("bound")),
		aPod("gated", func(p *v1.Pod) { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "g"}} }))
	client, err := st.api.client()
	if err != nil {
		t.Fatal(err)
	}
	ctx, pods := context.Background(), client.CoreV1().Pods("default")

	if pod, err := pods.Get(ctx, "web", metav1.GetOptions{}); err != nil || pod.Status.Message != "kept" {
		t.Errorf("get: %v, %v", pod, err)
	}
	if _, err := pods.Get(ctx, "nobody", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get of nobody: %v", err)
	}
	patch := []byte(`{"status":{"nominatedNodeName":"one"}}`)
	pod, err := pods.Patch(ctx, "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil || pod.Status.NominatedNodeName != "one" || pod.Status.Message != "kept" {
		t.Errorf("patch: %v, %v", pod, err)
	}
	if _, err := pods.Patch(ctx, "web", types.JSONPatchType, []byte(`[]`), metav1.PatchOptions{}); !apierrors.IsBadRequest(err) {
		t.Errorf("another kind of patch: %v", err)
	}
	for name, want := range map[string]string{"bound": "already assigned", "gated": "schedulingGates", "other": "not found"} {
		if err := bind(client, name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("binding of %s: %v, want %q", name, err, want)
		}
	}
	if err := bind(client, "web", "another"); !apierrors.IsConflict(err) {
		t.Errorf("binding of another pod of that name: %v", err)
	}
	if err := pods.Delete(ctx, "web", metav1.DeleteOptions{}); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("delete: %v", err)
	}
	labels := []byte(`{"metadata":{"labels":{"tier":"front"}}}`)
	if pod, err = pods.Patch(ctx, "web", types.StrategicMergePatchType, labels, metav1.PatchOptions{}); err != nil || pod.Labels["tier"] != "front" || pod.Spec.SchedulerName == "" {
		t.Errorf("patch of the labels: %v, %v", pod, err)
	}
	if disk, err := client.CoreV1().PersistentVolumes().UpdateStatus(ctx, aVolume("disk", "now", "", v1.LabelHostname, "one"), metav1.UpdateOptions{}); err != nil || disk.Name != "disk" {
		t.Errorf("update of a volume's status: %v, %v", disk, err)
	}
	claims := client.ResourceV1().ResourceClaims("default")
	claim := aDeviceClaim("", "gpu")
	claim.GenerateName, claim.Namespace, claim.UID = "made-", "", ""
	made, err := claims.Create(ctx, claim, metav1.CreateOptions{})
	if err != nil || len(made.Name) <= len("made-") || !strings.HasPrefix(made.Name, "made-") || made.Namespace != "default" || made.UID == "" {
		t.Errorf("create: %v, %v", made, err)
	}
	claim.Name, claim.GenerateName = "named", ""
	if named, err := claims.Create(ctx, claim, metav1.CreateOptions{}); err != nil || named.Name != "named" || named.UID == made.UID {
		t.Errorf("create of one with a name: %v, %v", named, err)
	}
	var wrote []string
	for _, w := range st.Writes() {
		wrote = append(wrote, fmt.Sprintf("%s status=%t new=%t", w.Object.(metav1.Object).GetResourceVersion(), w.Status, w.New))
	}
	// Each has the version after the one that its object had, and after all that were given out before.
	if want := []string{"42 status=true new=false", "43 status=false new=false", "44 status=true new=false", "45 status=false new=true", "46 status=false new=true"}; !slices.Equal(wrote, want) {
		t.Errorf("writes are %v, want %v", wrote, want)
	}
	if len(st.Writes()) != 0 {
		t.Error("Writes returned the writes twice")
	}
}

func bind(client kubernetes.Interface, pod string, uid types.UID) error {
	return client.CoreV1().Pods("default").Bind(context.Background(), &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pod, UID: uid}, Target: v1.ObjectReference{Kind: "Node", Name: "one"},
	}, metav1.CreateOptions{})
}

// TestOddRequests checks that requests that upstream never sends are rejected.
func TestOddRequests(t *testing.T) {
	st := newStory(t)
	st.put(aPod("web"), aDeviceClaim("mine", "gpu"))
	const merging = "application/strategic-merge-patch+json"
	for _, c := range []struct {
		method, path, body string
		code               int
		contentType        string
	}{
		{"GET", "/", "", 405, ""},
		{"GET", "/api", "", 405, ""},
		{"GET", "/healthz", "", 405, ""},
		{"POST", "/api/v1/namespaces/default/events", "{}", 405, ""},
		{"POST", "/api/v1/namespaces/default/pods", "{", 400, ""},
		{"POST", "/api/v1/namespaces/default/pods/web/binding", "{", 400, ""},
		{"PUT", "/api/v1/namespaces/default/pods/web", "{", 400, ""},
		{"PUT", "/api/v1/namespaces/default/pods/nobody", "{}", 404, ""},
		{"PATCH", "/api/v1/namespaces/default/pods/web", "{", 400, ""},
		{"PATCH", "/api/v1/namespaces/default/pods/web", "{}", 400, ""}, // a patch of no type
		{"OPTIONS", "/api/v1/namespaces/default/pods/web", "", 405, ""},
		{"GET", "/api/v1/namespaces/default", "", 405, ""},
		{"POST", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/mine/binding", "{}", 400, ""},
		{"PATCH", "/api/v1/namespaces/default/pods/web", "{", 400, merging},
		{"PATCH", "/api/v1/namespaces/default/pods/web", `{"spec":{"priority":"high"}}`, 400, merging},
		{"PATCH", "/api/v1/namespaces/default/pods/web/status", "{", 400, merging},
	} {
		req, err := http.NewRequest(c.method, "http://model.invalid"+c.path, bytes.NewBufferString(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", c.contentType)
		answer, err := st.api.RoundTrip(req)
		if err != nil || answer.StatusCode != c.code {
			t.Errorf("%s %s: %v, %v, want %d", c.method, c.path, answer.StatusCode, err, c.code)
		}
	}
	if len(st.Writes()) != 0 {
		t.Error("a rejected request wrote")
	}
	cut, err := http.NewRequest("POST", "http://model.invalid/api/v1/namespaces/default/pods", iotest.ErrReader(io.ErrUnexpectedEOF))
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := st.api.RoundTrip(cut); err == nil {
		t.Errorf("a truncated request was answered: %v", answer.Status)
	}
}
