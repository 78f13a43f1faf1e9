package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"

	"github.com/schedq/schedq/e2e/controlplane"
	"github.com/schedq/schedq/e2e/workload"
)

// grant gives schedq's user the ClusterRoles of deploy/ and nothing else.
func grant(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	files, err := filepath.Glob("../deploy/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("deploy/ contains no manifest: %v", err)
	}
	rbac := client.RbacV1()
	granted := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range bytes.Split(text, []byte("\n---")) {
			var role rbacv1.ClusterRole
			if err := yaml.Unmarshal(document, &role); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if role.Kind != "ClusterRole" {
				continue
			}
			if _, err := rbac.ClusterRoles().Create(t.Context(), &role, metav1.CreateOptions{}); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			binding := &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: role.Name + "-e2e"},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: role.Kind, Name: role.Name},
				Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: controlplane.SchedqUser}},
			}
			if _, err := rbac.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			granted++
		}
	}
	if granted == 0 {
		t.Fatal("deploy/ contains no ClusterRole")
	}
}

// onlyReads fails the test if the audit log contains a request by schedq's user that is not a read, no
// request at all, or one that was always refused. (A starting API server may refuse requests until it
// has read the roles.)
func onlyReads(t *testing.T, auditLog string) {
	t.Helper()
	requests, granted, refused := map[string]int{}, map[string]bool{}, map[string]bool{}
	for i, line := range readLines(t, auditLog) {
		var e struct {
			Verb, RequestURI string
			User             struct{ Username string }
			ObjectRef        struct{ Resource string }
			ResponseStatus   struct{ Code int }
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s:%d: %v", auditLog, i+1, err)
		}
		if e.User.Username != controlplane.SchedqUser {
			continue
		}
		resource := e.ObjectRef.Resource
		request := e.Verb
		if request == "create" {
			request += " " + resource
		}
		requests[request]++
		switch request {
		case "get", "list", "watch", "create selfsubjectaccessreviews", "create selfsubjectrulesreviews":
		default:
			t.Errorf("schedq sent %s %s", e.Verb, e.RequestURI)
		}
		if code := e.ResponseStatus.Code; code == http.StatusForbidden {
			refused[e.Verb+" "+resource] = true
		} else if code == http.StatusOK {
			granted[e.Verb+" "+resource] = true
		}
	}
	if len(requests) == 0 {
		t.Error("the audit log contains no request by schedq")
	}
	for request := range refused {
		if !granted[request] {
			t.Errorf("the ClusterRole lacks %s", request)
		}
	}
	t.Logf("schedq's requests: %v", requests)
}

// holdsNoSecret fails the test if one of the files contains the pods' environment.
func holdsNoSecret(t *testing.T, files ...string) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), workload.Secret) {
			t.Errorf("%s contains a pod's environment", file)
		}
	}
}
