package doctor_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/schedq/schedq/sources/live"
	"github.com/schedq/schedq/sources/live/doctor"
	"github.com/schedq/schedq/sources/live/livetest"
)

func examine(t *testing.T, server string) *doctor.Findings {
	t.Helper()
	source, err := live.New(&rest.Config{Host: server}, live.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return doctor.Examine(t.Context(), source, server)
}

// summary lists the kinds that can't be read, and the state and commands of each channel.
func summary(f *doctor.Findings) []string {
	var list []string
	for _, k := range f.Kinds {
		if k.State != doctor.Readable {
			list = append(list, k.Kind+" "+k.State)
		}
	}
	for _, c := range f.Channels {
		list = append(list, fmt.Sprintf("%s: %s %v", c.Name, c.State, c.How))
	}
	return list
}

func schedulerPod(namespace, name string, labels map[string]string, containers ...corev1.Container) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: corev1.PodSpec{NodeName: "cp", Containers: containers}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
}

// With the scheduler in a pod, all channels are available, and its verbosity is known.
func TestKubeadm(t *testing.T) {
	server := livetest.New(t)
	holder, since := "cp_1", metav1.MicroTime{}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-scheduler"},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, AcquireTime: &since}}
	pending := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: corev1.PodSpec{SchedulerName: "volcano"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	server.Put(lease, pending, schedulerPod("kube-system", "kube-scheduler-cp", map[string]string{"component": "kube-scheduler"},
		corev1.Container{Name: "kube-scheduler", Image: "registry.k8s.io/kube-scheduler:v1.37.1",
			Command: []string{"kube-scheduler", "--v=2", "--feature-gates=Secret=true", "--kubeconfig", "/etc/secret"}}))
	f := examine(t, server.URL)
	want := []string{
		"the cluster, live: yes [schedq attach]",
		"the scheduler's own counts: yes [schedq attach --scheduler-metrics proxy]",
		"the scheduler's log, live: yes [schedq attach --scheduler-log pod:kube-system/kube-scheduler-cp]", // below -v=5, too
		"the scheduler's log, saved: see how [kubectl logs -n kube-system kube-scheduler-NODE --timestamps > sched.log]",
		"kube-apiserver's audit log: see how []",
	}
	if got := summary(f); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	s := f.Scheduler
	if len(s.Pods) != 1 || s.Pods[0].Verbosity != 2 || s.Pods[0].Version != "v1.37.1" || fmt.Sprint(s.Pods[0].Configured) != "[--feature-gates]" {
		t.Errorf("the scheduler's pods are %+v", s.Pods)
	}
	if s.Holder != "cp_1" || s.Lease != "kube-system/kube-scheduler" || s.Pending["volcano"] != 1 || f.Version != "v1.37.1" {
		t.Errorf("%+v, %s", s, f.Version)
	}
	if c := f.Channels[2]; !strings.HasPrefix(c.Adds, "it runs at -v=2: the result of every attempt, which corrects the model;") {
		t.Errorf("the log adds %q", c.Adds)
	}
	if text, _ := json.Marshal(f); strings.Contains(strings.ToLower(string(text)), "secret") {
		t.Errorf("the findings contain values of the scheduler's flags: %s", text)
	}
	for _, request := range server.Requests() {
		if !strings.HasPrefix(request, "GET ") && request != "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews" {
			t.Errorf("request %s", request)
		}
	}
}

// OpenShift's scheduler pod has several containers, and its own namespace.
func TestOpenShift(t *testing.T) {
	server := livetest.New(t)
	server.Answer("/apis", `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps"},{"name":"config.openshift.io"}]}`)
	server.Put(schedulerPod("openshift-kube-scheduler", "openshift-kube-scheduler-master-0", map[string]string{"app": "openshift-kube-scheduler"},
		corev1.Container{Name: "kube-scheduler", Args: []string{"--config=/etc/x", "-v=5"}}, corev1.Container{Name: "kube-scheduler-cert-syncer", Args: []string{"-v=9"}}))
	f := examine(t, server.URL)
	if f.Platform.Name != "OpenShift" || len(f.Scheduler.Pods) != 1 || f.Scheduler.Pods[0].Verbosity != 5 {
		t.Errorf("%+v, %+v", f.Platform, f.Scheduler.Pods)
	}
	want := "[schedq attach --scheduler-log pod:openshift-kube-scheduler/openshift-kube-scheduler-master-0/kube-scheduler]"
	if got := fmt.Sprint(f.Channels[2].How); got != want {
		t.Errorf("the log channel has %s, want %s", got, want)
	}
}

// On EKS the scheduler has no pod, and its metrics need a permission.
func TestEKS(t *testing.T) {
	server := livetest.New(t)
	server.Put(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"eks.amazonaws.com/nodegroup": "a"}}})
	f := examine(t, server.URL)
	if got := summary(f)[1]; f.Platform.Name != "EKS" || got != "the scheduler's own counts: yes [schedq attach --scheduler-metrics eks]" {
		t.Errorf("%+v: %s", f.Platform, got)
	}
	if c := f.Channels[2]; c.State != doctor.No || !strings.HasPrefix(c.Adds, "at -v=5 every move") {
		t.Errorf("%+v", c)
	}
	server.Refuse("ksh", http.StatusForbidden)
	if c := examine(t, server.URL).Channels[1]; c.State != doctor.No || c.Why != "you have no permission to get ksh/metrics of metrics.eks.amazonaws.com" {
		t.Errorf("%+v", c)
	}
}

func TestPlatforms(t *testing.T) {
	for version, want := range map[string]string{"v1.33.5-eks-3025e55": "EKS", "v1.34.1-gke.1000": "GKE", "v1.35.0+k3s1": "k3s", "v1.35.0+rke2r1": "RKE2", "v1.36.0": ""} {
		server := livetest.New(t)
		server.Answer("/version", fmt.Sprintf(`{"gitVersion":%q}`, version))
		if f := examine(t, server.URL); f.Platform.Name != want || string(f.Version) != version {
			t.Errorf("%s is %+v, %s, want %s", version, f.Platform, f.Version, want)
		}
	}
}

// With every request forbidden, the findings say so.
func TestForbidden(t *testing.T) {
	server := livetest.New(t)
	server.Refuse("", http.StatusForbidden)
	f := examine(t, server.URL)
	for _, k := range f.Kinds {
		if k.State != doctor.Forbidden || k.Without == "" {
			t.Errorf("%+v", k)
		}
	}
	if c := f.Channels[0]; f.Trouble != "" || len(f.Kinds) == 0 || c.State != doctor.No || !strings.HasPrefix(c.Why, "pods are forbidden") {
		t.Errorf("%q, %+v", f.Trouble, c)
	}
}

// An API server that can't be queried is reported in the findings.
func TestUnavailableServer(t *testing.T) {
	server := livetest.New(t)
	server.Refuse("", http.StatusUnauthorized)
	if f := examine(t, server.URL); !strings.Contains(f.Trouble, "does not take your credentials") || f.Channels[0].State != doctor.No {
		t.Errorf("%+v", f)
	}
	server.Close()
	if f := examine(t, server.URL); !strings.Contains(f.Trouble, "can't be reached") || f.Channels[0].State != doctor.No || len(f.Channels) != 5 {
		t.Errorf("%+v", f)
	}
}

// Responses are sanitized.
func TestHostileResponses(t *testing.T) {
	server := livetest.New(t)
	server.Answer("/version", `{"gitVersion":"v1.33\u001b[31m-eks-"}`)
	server.Answer("/apis", `[]`)
	server.Answer("/api/v1/namespaces/kube-system/pods", `{"items":[{"metadata":{"name":"a\u001b[2J","labels":{"component":"kube-scheduler"}}},{"metadata":null,"spec":{"containers":[{"command":["-v"]}]}}]}`)
	f := examine(t, server.URL)
	if text, err := json.Marshal(f); err != nil || strings.Contains(string(text), `\u001b`) || len(f.Scheduler.Pods) > 0 {
		t.Errorf("%v: %s", err, text)
	}
}

// The commands match the platform's page, which has them in two blocks, with the schedq command that
// opens their output.
func TestCommands(t *testing.T) {
	for platform, page := range map[string]string{"EKS": "eks", "GKE": "gke", "AKS": "aks", "OpenShift": "openshift", "k3s": "k3s", "": "kubeadm"} {
		text, err := os.ReadFile("../../../docs/use/platforms/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		if blocks := strings.Count(string(text), "\n\n    "); blocks != 2 || strings.Count(string(text), "\n    ") != 4 || !strings.Contains(string(text), "\n\n    schedq replay ") {
			t.Errorf("the page of %q must have four commands in two blocks, one of them schedq replay", page)
		}
		commands := doctor.Commands(platform)
		if len(commands) == 0 {
			t.Errorf("no command for %q", platform)
		}
		for _, command := range commands {
			if !strings.Contains(string(text), "\n    "+command) {
				t.Errorf("docs/use/platforms/%s.md does not contain %s", page, command)
			}
		}
	}
}
