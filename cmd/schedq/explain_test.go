package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
)

// TestExplain: the text about a pod of an embedded recording.
func TestExplain(t *testing.T) {
	code, out, stderr := schedq(t, "", "explain", "store-0", "--recording", "workshop", "--at", "10:57:00")
	const want = `default/store-0 at 2026-11-21 10:57:00.000 UTC
pending 22s, 4 attempts, unschedulable

PersistentVolumeClaim data-store-0 is not bound. Check the claim's storage class and its provisioner.
Next try by 11:02:16 (5 min timeout). Sooner, for example, if the claim is bound.

unschedulable since 10:56:55.401, observed · 4 attempts · priority 0 · last woken by PersistentVolumeUpdate at 10:56:55.401
  Rejected by VolumeBinding at 10:56:55.4. Events that this plugin listens for can wake it.
  Attempt 4 failed at 10:56:55.4. Backoff: 8 s, until 10:57:04. An event before then moves it to backoffQ, where it is tried early if activeQ is empty.
  Without an event: retried at 11:02:16 (5 min timeout, checked every 30 s).

last attempt, failed at 10:56:55.401, observed
  3 of 3 nodes  VolumeBinding  pod has unbound immediate PersistentVolumeClaims

events that can wake it, subject to each plugin's queueing hint
  VolumeBinding  NodeAdd, NodeUpdateNodeLabel, PersistentVolumeClaimAdd, PersistentVolumeClaimUpdate, PersistentVolumeAdd, PersistentVolumeUpdate, storage.k8s.io/StorageClassAdd, storage.k8s.io/StorageClassUpdate, storage.k8s.io/CSINodeAdd, storage.k8s.io/CSINodeUpdate, storage.k8s.io/CSIDriverUpdate, storage.k8s.io/CSIStorageCapacityAdd, storage.k8s.io/CSIStorageCapacityUpdate

needs
  It fits on none of the 3 nodes.
  Free is allocatable minus what pods request; actual usage is ignored.
  On any node, VolumeBinding: pod has unbound immediate PersistentVolumeClaims.
  On any node, VolumeZone: PersistentVolume had no name.
  node-a  –                 would fit otherwise
  node-c  TaintToleration   node(s) had untolerated taint(s) (taint dedicated=gpu:NoSchedule)
  node-b  NodeResourcesFit  needs 500m cpu, free 0 of 4: lacks 500m

Note: Needs are computed by kube-scheduler v1.37's own plugins from the objects at that time; pods that are assumed but not yet bound are not counted.
`
	if code != 0 || stderr != "" || out != want {
		t.Errorf("exit %d, %q\n%s", code, stderr, out)
	}
}

func TestExplainJSON(t *testing.T) {
	code, out, stderr := schedq(t, "", "explain", "default/huge-0", workshop, "--at", "2026-11-21T11:00:30Z", "-o", "json")
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	var x struct {
		Pod, Tier, Provenance string
		Time                  time.Time
		NextTry               struct{ Latest time.Time }
		Needs                 struct {
			Nearest []struct {
				Node  string
				Lacks []struct{ Resources []map[string]string }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &x); err != nil {
		t.Fatal(err)
	}
	if x.Pod != "default/huge-0" || x.Tier != "unschedulable" || x.Provenance != "observed" || x.Time != time.Date(2026, 11, 21, 11, 0, 30, 0, time.UTC) ||
		x.NextTry.Latest.Format(time.TimeOnly) != "11:05:46" {
		t.Errorf("%s", out)
	}
	if len(x.Needs.Nearest) != 3 || x.Needs.Nearest[0].Node != "node-c" || x.Needs.Nearest[0].Lacks[0].Resources[0]["lacks"] != "59800m" {
		t.Errorf("needs %+v", x.Needs)
	}
}

// TestExplainSchedulerConfig: the backoff of --scheduler-config applies.
func TestExplainSchedulerConfig(t *testing.T) {
	config := writer(t)("config.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npodInitialBackoffSeconds: 2\npodMaxBackoffSeconds: 4\n")
	code, out, stderr := schedq(t, "", "explain", "store-0", "--recording", "workshop", "--at", "10:57:00", "--scheduler-config", config)
	if code != 0 || !strings.Contains(out, "Its backoff ended at 10:56:59: an event now moves it straight to activeQ.") {
		t.Errorf("exit %d, %s\n%s", code, stderr, out)
	}
}

func TestExplainErrors(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	for args, want := range map[string]failure{
		"":                                       {code: 2, want: "explain needs a pod"},
		"store-0":                                {code: 1, want: "no kubeconfig names a cluster"},
		"store-0 --at 10:57:00":                  {code: 2, want: "--at is for recordings"},
		"store-0 --recording workshop --at noon": {code: 2, want: "invalid time --at noon"},
		"store-0 --recording workshop --at 23:00:00":   {code: 2, want: "--at 23:00:00 is outside the recording, which covers 2026-11-21 10:56:21.400 to 2026-11-21 11:05:11.536 UTC"},
		"store-9 --recording workshop":                 {code: 1, want: "pod store-9 not found in workshop; did you mean default/store-0"},
		"store-0 --recording workshop --at 10:56:21.5": {code: 1, want: "default/store-0 was not in the queue at 10:56:21.5: it arrived at 10:56:37.3"},
	} {
		want.args = append([]string{"explain"}, strings.Fields(args)...)
		want.check(t)
	}
}

// TestExplainMarkdown: the explanation can be pasted into an issue, and escapes markup in the
// cluster's texts.
func TestExplainMarkdown(t *testing.T) {
	code, out, stderr := schedq(t, "", "explain", "train-0", "--recording", "workshop", "--at", "10:56:45", "-o", "markdown")
	for _, want := range []string{
		"### default/train-0 at 2026-11-21 10:56:45.000 UTC\n", "**pending 10s, 1 attempt, unschedulable**\n",
		"| nodes | plugin | reason |\n|---|---|---|\n| 2 | NodeAffinity | node(s) didn't match Pod's node affinity/selector |\n",
	} {
		if code != 0 || stderr != "" || !strings.Contains(out, want) {
			t.Errorf("exit %d, %q, no %q in\n%s", code, stderr, want, out)
		}
	}
	if code, _, stderr := schedq(t, "", "explain", "train-0", "--recording", "workshop", "-o", "yaml"); code != 2 || !strings.Contains(stderr, `invalid output format "yaml": use text, json, markdown or issue`) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestExplainIssue: a report for a public issue has the pod's moves and objects, and none of the cluster's names, labels and their values.
func TestExplainIssue(t *testing.T) {
	rec, err := embedded.Open(t.Context(), "workshop")
	if err != nil {
		t.Fatal(err)
	}
	secret := map[string]bool{}
	for _, ev := range rec.Events {
		c, is := ev.Fact.(*sources.ObjectChange)
		if !is {
			continue
		}
		obj := c.Object.(metav1.Object)
		secret[obj.GetName()] = true
		for key, value := range obj.GetLabels() {
			secret[key], secret[value] = true, true
		}
	}
	for _, known := range []string{"", "default", "kubernetes.io/hostname", "topology.kubernetes.io/zone", "system-cluster-critical", "system-node-critical"} {
		delete(secret, known)
	}
	token := regexp.MustCompile(`[-A-Za-z0-9_./]*[A-Za-z0-9]`)
	for args, want := range map[string][]string{
		"train-0 --at 10:56:45":      {"### What was expected", "| unschedulable |", "NodeAffinity", "kind: Pod", "name: pod-1"},
		"urgent-0 --at 10:57:57.400": {"kube-scheduler v1.37", "| ScheduleAttemptFailure |", "kind: Node", "name: node-1", "- effect: NoSchedule\n    key: label-"},
	} {
		code, out, stderr := schedq(t, "", append([]string{"explain", "--recording", "workshop", "-o", "issue"}, strings.Fields(args)...)...)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("%s: no %q in\n%s", args, text, out)
			}
		}
		_, objects, _ := strings.Cut(out, "```yaml")
		for _, word := range token.FindAllString(out, -1) {
			if secret[word] && (strings.ContainsAny(word, "-/.") || strings.Contains(objects, word)) {
				t.Errorf("%s: the report contains %s", args, word)
			}
		}
	}
}
