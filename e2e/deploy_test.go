package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/schedq/schedq/e2e/controlplane"
)

// TestDeploy creates the resources of deploy/kustomization.yaml in order, with strict field validation, in
// a namespace that enforces the restricted Pod Security Standard.
func TestDeploy(t *testing.T) {
	plane := startControlPlane(t, controlplane.Options{})
	config, err := plane.Config(controlplane.Admin)
	if err != nil {
		t.Fatal(err)
	}
	client, err := plane.Client(controlplane.Admin)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := restmapper.GetAPIGroupResources(client.Discovery())
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	text, err := os.ReadFile("../deploy/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct{ Resources []string }
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, name := range kustomization.Resources {
		text, err := os.ReadFile(filepath.Join("../deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			obj := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(document, &obj.Object); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			kind := obj.GroupVersionKind()
			kinds[kind.Kind]++
			mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			opts := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
			if _, err := objects.Resource(mapping.Resource).Namespace(obj.GetNamespace()).Create(t.Context(), obj, opts); err != nil {
				t.Errorf("%s: %s %s: %v", name, kind.Kind, obj.GetName(), err)
			}
			if kind.Kind != "Deployment" {
				continue
			}
			// A Deployment that violates the namespace's standard causes only a warning, so create a pod of it.
			template, _, err := unstructured.NestedMap(obj.Object, "spec", "template")
			if err != nil {
				t.Fatal(err)
			}
			pod := &unstructured.Unstructured{Object: template}
			pod.SetAPIVersion("v1")
			pod.SetKind("Pod")
			pod.SetName("schedq")
			pods := objects.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace("schedq")
			if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll}}); err != nil {
				t.Errorf("%s: a pod of the Deployment: %v", name, err)
			}
		}
	}
	for _, kind := range []string{"Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "PersistentVolumeClaim", "Deployment"} {
		if kinds[kind] != 1 {
			t.Errorf("deploy/ has %d of %s", kinds[kind], kind)
		}
	}
}
