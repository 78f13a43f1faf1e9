package report_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/files"
)

// asEKS names the policy of EKS, which is that of GKE for everything that a scheduler reads.
const asEKS = "EKS and GKE"

// policies cut an audit log with the policy of docs/use/recordings.md down to what the fixed policies of clouds write: EKS (aws-eks-best-practices,
// security/detective.adoc), GKE (kubernetes, cluster/gce/gci/configure-helper.sh), AKS (azure-aks-docs, monitor-aks.md).
var policies = map[string]func(*auditLine) (level string){
	asEKS: managed,
	"AKS": func(l *auditLine) string {
		if l.isEvent() && l.ObjectRef.Namespace != "default" && l.ObjectRef.Namespace != "kube-system" {
			return "None"
		}
		return managed(l)
	},
}

// auditLine contains the fields that policies evaluate.
type auditLine struct {
	Verb      string
	User      struct{ Username string }
	ObjectRef struct{ APIGroup, Resource, Subresource, Namespace string }
}

func (l *auditLine) isEvent() bool { return l.ObjectRef.Resource == "events" }

// knownAPIs are the groups at RequestResponse in managed policies. Others are at Metadata: Events of
// events.k8s.io, and devices.
var knownAPIs = []string{"", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "authentication.k8s.io",
	"authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "extensions", "metrics.k8s.io", "networking.k8s.io", "node.k8s.io", "policy",
	"rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io"}

func managed(l *auditLine) string {
	o := l.ObjectRef
	switch {
	case l.isEvent() && o.APIGroup == "":
		return "None"
	case !slices.Contains(knownAPIs, o.APIGroup), o.APIGroup == "" && (o.Resource == "secrets" || o.Resource == "configmaps"):
		return "Metadata"
	case slices.Contains([]string{"get", "list", "watch"}, l.Verb):
		return "Request"
		// Status writes of kubelets; in a recording another user than the scheduler plays the kubelet.
	case o.APIGroup == "" && (o.Resource == "pods" || o.Resource == "nodes") && o.Subresource == "status" && l.User.Username != "system:kube-scheduler":
		return "Request"
	}
	return "RequestResponse"
}

// underPolicy returns an audit log reduced by a policy.
func underPolicy(t *testing.T, path string, policy func(*auditLine) string) []byte {
	t.Helper()
	lines := bufio.NewReaderSize(bytes.NewReader(unzip(t, path)), 1<<20)
	var out bytes.Buffer
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var of auditLine
			var members map[string]json.RawMessage
			if err := json.Unmarshal(line, &of); err != nil {
				t.Fatal(err)
			}
			switch level := policy(&of); {
			case level == "None":
			case level == "RequestResponse" || !bytes.Contains(line, []byte(`"level":"RequestResponse"`)):
				out.Write(append(line, '\n'))
			default:
				if err := json.Unmarshal(line, &members); err != nil {
					t.Fatal(err)
				}
				delete(members, "responseObject")
				if level == "Metadata" {
					delete(members, "requestObject")
				}
				members["level"], _ = json.Marshal(level)
				out.Write(inOrder(members))
			}
		}
		if err != nil {
			return out.Bytes()
		}
	}
}

// inOrder encodes an event with its members in kube-apiserver's order.
func inOrder(members map[string]json.RawMessage) []byte {
	var out bytes.Buffer
	for _, name := range []string{"kind", "apiVersion", "level", "auditID", "stage", "requestURI", "verb", "user", "impersonatedUser", "sourceIPs", "userAgent", "objectRef",
		"responseStatus", "requestObject", "responseObject", "requestReceivedTimestamp", "stageTimestamp", "annotations"} {
		if value, ok := members[name]; ok {
			separator := ","
			if out.Len() == 0 {
				separator = "{"
			}
			out.WriteString(separator + `"` + name + `":`)
			out.Write(value)
		}
	}
	out.WriteString("}\n")
	return out.Bytes()
}

// TestPolicies: with a -v=2 log, clouds' policies cost little, and the ends of Jobs' pods are found with
// each.
func TestPolicies(t *testing.T) {
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if os.Getenv("SCHEDQ_VERIFY") == "" || root == "" {
		t.Skip("make verify runs this")
	}
	logs, err := filepath.Glob(filepath.Join(root, "*", "sched.log.gz"))
	if err != nil || len(logs) == 0 {
		t.Skipf("no recordings in SCHEDQ_RECORDINGS: %v", err)
	}
	const loss = 0.005
	header := []string{"recording", "audit log, `-v=2`", "EKS policy", "EKS policy, `-v=2`"}
	var rows [][]string
	for _, log := range logs {
		full := filepath.Join(filepath.Dir(log), "audit.log.gz")
		t.Run(filepath.Base(filepath.Dir(log)), func(t *testing.T) {
			dir := t.TempDir()
			cut := filepath.Join(dir, "cut.log")
			if err := os.WriteFile(cut, cutLog(t, log, 2), 0o600); err != nil {
				t.Fatal(err)
			}
			ended := endedPods(t, full)
			want := verifyFiles(t, []string{full, cut}, nil, log)
			row := []string{recordingOf(t), cell(want)}
			for name, policy := range policies {
				t.Run(name, func(t *testing.T) {
					path := filepath.Join(dir, name+".log")
					if err := os.WriteFile(path, underPolicy(t, full, policy), 0o600); err != nil {
						t.Fatal(err)
					}
					if n := len(endedPods(t, path)); n != len(ended) {
						t.Errorf("%d pods end, and %d under the full policy", n, len(ended))
					}
					alone := verifyFiles(t, []string{path}, nil, log)
					got := verifyFiles(t, []string{path, cut}, nil, log)
					if name == asEKS {
						row = append(row, cell(alone), cell(got))
					}
					for what, figure := range map[string][2]float64{
						"recall":    {got.Transitions.Recall, want.Transitions.Recall},
						"precision": {got.Transitions.Precision, want.Transitions.Precision},
						"time":      {got.PodSeconds.Share, want.PodSeconds.Share},
					} {
						if figure[0] < figure[1]-loss {
							t.Errorf("with a log of 2, %s is %.4f, and %.4f under the full policy", what, figure[0], figure[1])
						}
					}
				})
			}
			t.Logf("%d pods end", len(ended))
			if len(row) == len(header) {
				rows = append(rows, row)
			}
		})
	}
	checkTable(t, byLogs, header, rows)
}

// endedPods returns the pods that end in an audit log.
func endedPods(t *testing.T, path string) map[types.UID]bool {
	t.Helper()
	rec, err := files.Open(t.Context(), []string{path}, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ended := map[types.UID]bool{}
	for _, e := range rec.Events {
		if c, is := e.Fact.(*sources.ObjectChange); is {
			if pod, is := c.Object.(*corev1.Pod); is && (pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed) {
				ended[pod.UID] = true
			}
		}
	}
	return ended
}
