package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources/live/livetest"
)

// TestDoctor prints text and JSON, also for a cluster that forbids everything or is unreachable.
func TestDoctor(t *testing.T) {
	server := livetest.New(t)
	server.Answer("/version", `{"gitVersion":"v1.33.5-eks-3025e55"}`)
	server.Refuse("podgroups", http.StatusNotFound)
	server.Refuse("csinodes", http.StatusForbidden)
	server.Refuse("csidrivers", http.StatusForbidden)
	server.Put(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"}, Spec: corev1.PodSpec{SchedulerName: "default-scheduler"},
		Status: corev1.PodStatus{Phase: corev1.PodPending}})
	kubeconfig := server.Kubeconfig(t)
	code, out, stderr := schedq(t, "", "doctor", "--kubeconfig", kubeconfig, "-o", "json")
	var found struct {
		Platform struct{ Name string }
		Kinds    []struct{ Kind, State, Without string }
		Channels []struct{ Name, State string }
	}
	if err := json.Unmarshal([]byte(out), &found); code != 0 || err != nil || found.Platform.Name != "EKS" || len(found.Kinds) < 20 || len(found.Channels) != 5 {
		t.Errorf("exit %d, %v, %q: %s", code, err, stderr, out)
	}
	kinds := len(found.Kinds)
	code, out, stderr = schedq(t, "", "doctor", "--kubeconfig", kubeconfig)
	for _, want := range []string{
		"cluster    test, " + server.URL,
		"release    v1.33.5-eks-3025e55: using the queue rules of v1.33",
		"platform   EKS: the API server's version contains -eks-",
		"scheduler  no lease found",
		"scheduler  1 pending pod for default-scheduler\n",
		fmt.Sprintf("  %d of the %d kinds that schedq watches are readable\n", kinds-3, kinds),
		"  podgroups – not served: pod groups are not known\n",
		"  csidrivers, csinodes – forbidden: pods with volume claims are modelled incorrectly\n",
		"  the scheduler's own counts – yes\n      schedq attach --scheduler-metrics eks\n",
		"  the scheduler's log, live – no: no scheduler pod was found in the cluster\n",
		"  the scheduler's log, saved – see how: control plane logging of `scheduler` must be on\n      aws logs filter-log-events",
	} {
		if code != 0 || stderr != "" || !strings.Contains(out, want) {
			t.Errorf("exit %d, %q: no %q in\n%s", code, stderr, want, out)
		}
	}
	// Where attach would not work, the exit code is 1, and the report is printed all the same.
	for _, refusal := range []int{http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		server.RefuseLists(refusal)
		code, out, stderr = schedq(t, "", "doctor", "--kubeconfig", kubeconfig)
		if code != 1 || !strings.HasPrefix(stderr, "schedq: schedq attach does not work here: pods are ") || !strings.Contains(out, fmt.Sprintf("0 of the %d kinds", kinds)) {
			t.Errorf("%d: exit %d, %q:\n%s", refusal, code, stderr, out)
		}
	}
	server.Close()
	if code, out, stderr = schedq(t, "", "doctor", "--kubeconfig", kubeconfig); code != 1 || stderr != "schedq: schedq attach does not work here: the API server could not be queried\n" || strings.Count(out, "can't be reached") != 1 {
		t.Errorf("exit %d, %q:\n%s", code, stderr, out)
	}
}
