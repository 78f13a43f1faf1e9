package local

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// TestNothingLeaves: every client that upstream's plugins get talks to the model and to nothing else.
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
			t.Errorf("%s's client talks to %s", name, host)
		}
		if config := profile.KubeConfig(); config != nil {
			t.Errorf("%s can make clients of its own: %+v", name, config)
		}
		if _, err := client.Nodes().List(context.Background(), metav1.ListOptions{}); !apierrors.IsMethodNotSupported(err) {
			t.Errorf("a list of nodes: %v", err)
		}
	}
}

// refusing is an http.RoundTripper that nothing may use.
type refusing struct{ t *testing.T }

// RoundTrip implements http.RoundTripper.
func (r refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	r.t.Errorf("%s %s leaves the process", req.Method, req.URL)
	return nil, io.ErrUnexpectedEOF
}

// TestAPI: it answers what upstream's scheduler asks as an API server would, from the objects put in.
func TestAPI(t *testing.T) {
	st := newStory(t, aNode("one"))
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
	claim := aDeviceClaim("", "gpu")
	claim.GenerateName, claim.UID = "made-", ""
	made, err := client.ResourceV1().ResourceClaims("default").Create(ctx, claim, metav1.CreateOptions{})
	if err != nil || !strings.HasPrefix(made.Name, "made-") || made.UID == "" {
		t.Errorf("create: %v, %v", made, err)
	}
	writes := st.Writes()
	if len(writes) != 2 || !writes[0].Status || writes[0].New || !writes[1].New || writes[1].Status {
		t.Errorf("the writes are %+v", writes)
	}
	if len(st.Writes()) != 0 {
		t.Error("the writes are handed out twice")
	}
}

func bind(client kubernetes.Interface, pod string, uid types.UID) error {
	return client.CoreV1().Pods("default").Bind(context.Background(), &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pod, UID: uid}, Target: v1.ObjectReference{Kind: "Node", Name: "one"},
	}, metav1.CreateOptions{})
}

// TestOddRequests: what no client of upstream's sends is refused.
func TestOddRequests(t *testing.T) {
	st := newStory(t)
	st.put(aPod("web"))
	for _, c := range []struct {
		method, path, body string
		code               int
	}{
		{"GET", "/", "", 405},
		{"GET", "/api", "", 405},
		{"GET", "/healthz", "", 405},
		{"POST", "/api/v1/namespaces/default/events", "{}", 405},
		{"POST", "/api/v1/namespaces/default/pods", "{", 400},
		{"POST", "/api/v1/namespaces/default/pods/web/binding", "{", 400},
		{"PUT", "/api/v1/namespaces/default/pods/web", "{", 400},
		{"PUT", "/api/v1/namespaces/default/pods/nobody", "{}", 404},
		{"PATCH", "/api/v1/namespaces/default/pods/web", "{", 400},
		{"PATCH", "/api/v1/namespaces/default/pods/web", "{}", 400}, // a patch of no type
		{"OPTIONS", "/api/v1/namespaces/default/pods/web", "", 405},
	} {
		req, err := http.NewRequest(c.method, "http://model.invalid"+c.path, bytes.NewBufferString(c.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := st.api.RoundTrip(req)
		if err != nil || answer.StatusCode != c.code {
			t.Errorf("%s %s: %v, %v, want %d", c.method, c.path, answer.StatusCode, err, c.code)
		}
	}
	if len(st.Writes()) != 0 {
		t.Error("one of them wrote")
	}
}
