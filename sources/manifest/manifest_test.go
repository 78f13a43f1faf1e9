package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/schedq/schedq/sources"
)

func parse1(t testing.TB, text string) *Manifest {
	t.Helper()
	m, err := Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// podNamed returns the pod of that name, failing the test if there is none.
func podNamed(t testing.TB, m *Manifest, name string) *corev1.Pod {
	t.Helper()
	for _, o := range m.Objects {
		if p, ok := o.(*corev1.Pod); ok && p.Name == name {
			return p
		}
	}
	t.Fatalf("no pod %s", name)
	return nil
}

// show prints objects one a line.
func show(m *Manifest) string {
	var b strings.Builder
	for _, o := range m.Objects {
		a := o.(metav1.Object)
		fmt.Fprintf(&b, "%s %s", o.GetObjectKind().GroupVersionKind().Kind, a.GetName())
		if ns := a.GetNamespace(); ns != "" && ns != "default" {
			fmt.Fprintf(&b, " in %s", ns)
		}
		for _, r := range a.GetOwnerReferences() {
			fmt.Fprintf(&b, " of %s %s", r.Kind, r.Name)
		}
		b.WriteByte('\n')
	}
	for _, s := range m.Skipped {
		b.WriteString("skipped " + s + "\n")
	}
	for _, s := range m.Notices {
		b.WriteString(s + "\n")
	}
	return b.String()
}

const (
	template = `
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: c
        env: [{name: PASSWORD, value: hunter2}]
        resources: {limits: {cpu: 500m}}
`
	pod  = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n"
	apps = "apiVersion: apps/v1\nkind: "
)

func workload(kind, name, spec string) string {
	return apps + kind + "\nmetadata: {name: " + name + "}\nspec:\n" + spec + strings.TrimPrefix(template, "\n")
}

func TestObjects(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"pod", pod, "Pod p\n"},
		{"documents", "# a file\n---\n---\n" + pod + "---\n# nothing\n...\n--- # a node\napiVersion: v1\nkind: Node\nmetadata: {name: node}\n", "Pod p\nNode node\n"},
		{"json", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node"}} {"apiVersion":"v1","kind":"Node","metadata":{"name":"m","annotations":{"x":"\ud83d\ude00\/"}}}`,
			"Node node\nNode m\n"},
		{"json with tabs", "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Node\",\n\t\"metadata\": {\n\t\t\"name\": \"node\"\n\t}\n}\n", "Node node\n"},
		{"windows", strings.ReplaceAll("\xef\xbb\xbf"+pod+"---\napiVersion: v1\nkind: Node\nmetadata: {name: node}\n", "\n", "\r\n"), "Pod p\nNode node\n"},
		{"list", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: node}\n- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n",
			"Node node\nskipped Secret s\n"},
		{"list of pods", "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: p}\n  spec: {containers: [{name: c}]}\n", "Pod p\n"},
		{"skipped", pod + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: \"\\e[31m\"}\n---\napiVersion: example.com/v1\nkind: Pod\nx: 1\n",
			"Pod p\nskipped ConfigMap c\nskipped Pod\n"},
		{"generated names", strings.ReplaceAll(pod+"---\n"+pod, "name: p}", "generateName: job-}"), "Pod job-pmgxd\nPod job-6qg59\n"},
		{"deployment", workload("Deployment", "web", "  replicas: 2\n"),
			"ReplicaSet web-86c589f9fc of Deployment web\nPod web-86c589f9fc-lsxnf of ReplicaSet web-86c589f9fc\nPod web-86c589f9fc-jdglz of ReplicaSet web-86c589f9fc\n"},
		{"replica set", workload("ReplicaSet", "web", ""), "ReplicaSet web\nPod web-6jqkf of ReplicaSet web\n"},
		{"scaled to nothing", workload("ReplicaSet", "web", "  replicas: 0\n"), "ReplicaSet web\n"},
		{"replication controller", strings.NewReplacer("apps/v1", "v1", "{matchLabels: {app: web}}", "{app: web}").
			Replace(workload("ReplicationController", "web", "")), "ReplicationController web\nPod web-6jqkf of ReplicationController web\n"},
		{"stateful set", workload("StatefulSet", "db", "  replicas: 2\n  ordinals: {start: 3}\n  volumeClaimTemplates:\n"+
			"  - metadata: {name: data}\n    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"),
			"StatefulSet db\nPersistentVolumeClaim data-db-3\nPod db-3 of StatefulSet db\nPersistentVolumeClaim data-db-4\nPod db-4 of StatefulSet db\n"},
		{"job", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: x}\nspec:\n  parallelism: 3\n  completions: 2\n" +
			"  completionMode: Indexed\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: c}]\n",
			"Pod j-0-7jg88 in x of Job j\nPod j-1-ln9sg in x of Job j\n"},
		{"left out", pod + "---\n" + workload("DaemonSet", "agent", "") + "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: cron}\n",
			"Pod p\nf.yaml:8: DaemonSet agent is left out: its pods depend on the nodes, so write the pods themselves\n" +
				"f.yaml:21: CronJob cron is left out: it makes no pods before it fires, so write its job as a Job\n"},
		{"ephemeral volume", pod + "  volumes:\n  - name: v\n    ephemeral:\n      volumeClaimTemplate:\n        spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n",
			"PersistentVolumeClaim p-v of Pod p\nPod p\n"},
		{"claim template", pod + "  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpus}, {name: other, resourceClaimTemplateName: other}]\n---\n" +
			"apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: gpus}\n" +
			"spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}}\n",
			"ResourceClaim p-gpu-7jxl5 of Pod p\nPod p\n" +
				"f.yaml:1: the pods of Pod p will wait for a claim, because the ResourceClaimTemplate other is not in the file\n"},
		{"cluster-wide", "apiVersion: v1\nkind: Node\nmetadata: {name: node, namespace: x}\n", "Node node\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := show(parse1(t, c.text)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x]\n")
	for i := range 30 {
		fmt.Fprintf(&bomb, "a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	var volumes strings.Builder
	for i := range 60 {
		fmt.Fprintf(&volumes, "      - {name: v%d, persistentVolumeClaim: {claimName: c}}\n", i)
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "f.yaml is empty"},
		{"only comments", "# a\n---\n\n", "f.yaml holds no object"},
		{"only others", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", "f.yaml holds nothing that kube-scheduler watches, only ConfigMap c"},
		{"only a cron job", "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\n", "f.yaml:1: CronJob c is left out"},
		{"large", strings.Repeat("# ..............................................................\n", 70_000), "f.yaml is larger than 4 MiB"},
		{"many lines", strings.Repeat("\n", 500_000), "f.yaml has more than 400000 lines and commas"},
		{"binary", pod + "\x00", "f.yaml:7: the line is binary, not text"},
		{"tabs", pod + "---\n\n" + pod + "\tx: 1\n", "f.yaml:14: the YAML cannot be read near here: found a tab character"},
		{"not closed", pod + "---\na: [\n", "f.yaml:8: the YAML cannot be read near here: did not find expected node content"},
		{"no object", "just words\n", "f.yaml:1: the document is not an object with a kind: is it a Kubernetes manifest?"},
		{"a list", "\n\n- a\n", "f.yaml:3: the document is not an object with a kind"},
		{"no kind", pod + "---\n# about\nreplicas: 3\n", "f.yaml:9: the document has no kind: is it a Kubernetes manifest?"},
		{"no version", "kind: Pod\nmetadata: {name: p}\n", "f.yaml:1: the Pod p has no apiVersion"},
		{"no such kind", apps + "Depoyment\n", `f.yaml:2: Kubernetes has no kind "Depoyment" in "apps/v1"`},
		{"old version", "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: w}\n", `f.yaml:1: Deployment w has the apiVersion "apps/v1beta1": only apps/v1 is read`},
		{"older version", "apiVersion: extensions/v1beta1\nkind: Deployment\n", `f.yaml:1: Deployment has the apiVersion "extensions/v1beta1": only apps/v1 is read`},
		{"no name", "apiVersion: v1\nkind: Pod\n", "f.yaml:1: in a Pod, an object's name is empty"},
		{"bad name", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: \"a\\e[31m\"\n", `f.yaml:4: in a Pod, "a␛[31m" is not a Kubernetes object name`},
		{"bad namespace", strings.Replace(pod, "{name: p}", "{name: p, namespace: A}", 1), `f.yaml:3: Pod p would be refused: metadata.namespace: Invalid value: "A"`},
		{"typo", pod + "    imgae: x\n", `f.yaml:7: Pod p has no field "spec.containers[0].imgae"`},
		{"twice", pod + "  containers: []\n", `f.yaml:7: the YAML cannot be read near here: key "containers" already set in map`},
		{"twice in json", "\n\n" + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},` + "\n" + `"spec":{"hostNetwork":true,` + "\n" + `"hostNetwork":true}}`,
			`f.yaml:4: Pod p has twice the field "spec.hostNetwork"`},
		{"wrong type", workload("Deployment", "web", "  replicas: \"three\"\n"), "f.yaml:5: spec.replicas of Deployment web must be a whole number and is string"},
		{"wrong type in a list", pod + "  - name: 3\n", "f.yaml:7: spec.containers[1].name of Pod p must be a string (in quotes) and is number"},
		{"wrong label", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels:\n    a.b/c: true\n", "f.yaml:6: metadata.labels.a.b/c of Pod p must be a string (in quotes) and is bool"},
		{"in a list", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: node}\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: m\n  spec:\n    tains: []\n",
			`f.yaml:12: Node m has no field "spec.tains"`},
		{"not a string", "apiVersion: v1\nkind: Node\nmetadata:\n  name: n\n", "f.yaml:4: metadata.name of Node must be a string (in quotes) and is bool"},
		{"list in a list", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items: []\n", "f.yaml:4: a List is in a list: lists do not nest"},
		{"quantity", pod + "    resources:\n      requests:\n        memory: 1GB\n", `f.yaml:9: spec.containers[0].resources.requests.memory of Pod p is not a quantity like 500m or 2Gi: "1GB"`},
		{"endless quantity", pod + "    resources:\n      requests:\n        memory: \"1e-99999999\"\n", "f.yaml:9: spec.containers[0].resources.requests.memory of Pod p is a number out of range"},
		{"hidden quantity", pod + "  volumes:\n  - name: v\n    emptyDir:\n      sizeLimit: \"1e-99999999\"\n", "f.yaml:10: spec.volumes[0].emptyDir.sizeLimit of Pod p is a number out of range"},
		{"endless sum", pod + "    resources:\n      requests:\n        memory: \"1e99999999\"\n", "f.yaml:9: spec.containers[0].resources.requests.memory of Pod p is a number out of range"},
		{"endless comparison", pod + "  volumes:\n  - name: v\n    emptyDir:\n      sizeLimit: \"1e99999999\"\n", "f.yaml:10: spec.volumes[0].emptyDir.sizeLimit of Pod p is a number out of range"},
		{"endless claim", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\nspec:\n  resources:\n    requests:\n      storage: 1e400Gi\n",
			"f.yaml:7: spec.resources.requests.storage of PersistentVolumeClaim c is not a quantity"},
		{"wrapped quantity", pod + "    resources:\n      requests:\n        memory: 1e2147483648\n", "f.yaml:9: spec.containers[0].resources.requests.memory of Pod p is a number out of range"},
		{"quantity in an odd place", pod + "    env:\n    - name: a\n      valueFrom:\n        resourceFieldRef: {resource: limits.cpu, divisor: \"1e3000000000\"}\n", "f.yaml:10: spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor of Pod p is a number out of range"},
		{"quantity in a place of its own", "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec:\n  driver: d\n  pool: {name: p, generation: 1, resourceSliceCount: 1}\n  sharedCounters:\n  - name: c\n    counters: {memory: {value: \"1e-99999999\"}}\n", "f.yaml:1: ResourceSlice s cannot be decoded: it holds a number out of range"},
		{"infinite", pod + "    resources:\n      requests:\n        memory: 1e400\n", "f.yaml:9: spec.containers[0].resources.requests.memory of Pod p is a number out of range"},
		{"more after json", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}} {"apiVersion":"v1",,"kind":"Node"}`, "f.yaml:1: the YAML cannot be read near here: did not find expected <document start>"},
		{"more after a flow", "{apiVersion: v1, kind: Node, metadata: {name: a}}\n{apiVersion: v1, kind: Node, metadata: {name: b}}\n", "f.yaml:1: the YAML cannot be read near here: did not find expected <document start>"},
		{"refused", workload("Deployment", "web", "") + "      tolerations:\n      - {key: a, operator: Exits}\n",
			`f.yaml:14: Deployment web would be refused: spec.template.spec.tolerations[0].operator: Unsupported value: "Exits"`},
		{"refused spread", pod + "  topologySpreadConstraints:\n  - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule}\n", "f.yaml:8: Pod p would be refused: spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0"},
		{"no containers", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n", "f.yaml:4: Pod p would be refused: spec.containers: Required value"},
		{"negative", workload("Deployment", "web", "  replicas: -1\n"), "f.yaml:5: spec.replicas of Deployment web is negative: -1"},
		{"too many", workload("Deployment", "web", "  replicas: 10001\n"), "f.yaml:5: spec.replicas of Deployment web is 10001, and a file makes at most 10000 pods"},
		{"too many together", workload("ReplicaSet", "a", "  replicas: 6000\n") + "---\n" + workload("ReplicaSet", "b", "  replicas: 6000\n"),
			"f.yaml:15: with ReplicaSet b the file makes more than 10000 pods"},
		{"too many parts", workload("StatefulSet", "a", "  replicas: 9000\n") + "      volumes:\n" + volumes.String(),
			"f.yaml:1: with StatefulSet a the file makes more than 500000 objects, labels and volumes"},
		{"selector", strings.Replace(workload("Deployment", "web", ""), "{app: web}}", "{app: wbe}}", 1), "f.yaml:5: the selector of Deployment web does not select the labels of its own spec.template"},
		{"no selector", strings.Replace(workload("StatefulSet", "web", ""), "{matchLabels: {app: web}}", "{}", 1), "f.yaml:5: StatefulSet web has no spec.selector"},
		{"restart policy", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      containers: [{name: c}]\n",
			`f.yaml:6: Job j would be refused: its spec.template.spec.restartPolicy is "Always" and not Never OnFailure`},
		{"same name", pod + "---\n" + pod, "f.yaml:10: Pod p is in the file already, from line 1"},
		{"alias bomb", bomb.String(), "f.yaml:1: the document's aliases make more than 16 MiB of it"},
		{"long alias bomb", "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [*a" + strings.Repeat(", *a", 100_000) + "]\n", "f.yaml:1: the document's aliases make more than 16 MiB of it"},
		{"alias in itself", "a: &a [*a]\n", "f.yaml:1: the alias *a stands within what it names"},
		{"deep", strings.Repeat("[", 100_000), "f.yaml:1: the YAML cannot be read near here: exceeded max depth of 10000"},
		{"deep mapping", "a:\n" + strings.Repeat(" - ", 20_000), "f.yaml:2: the YAML cannot be read near here: exceeded max depth of 10000"},
		{"deep json", strings.Repeat(`{"a":`, 9_999) + "1" + strings.Repeat("}", 9_999), "f.yaml:1: the document has no kind"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got\n%v\nwant\n%s", err, c.want)
			}
			if err != nil && (strings.ContainsAny(err.Error(), "\n\x1b") || len(err.Error()) > 1000) {
				t.Errorf("not a sentence: %q", err)
			}
		})
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.yaml")
	if err := os.WriteFile(file, []byte(pod), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := Read(t.Context(), file); err != nil || len(m.Objects) != 1 {
		t.Errorf("%v", err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "no\x1b"): "no␛: no such file or directory",
		dir:                          "is a directory: name a file in it",
		"-":                          "manifests cannot be read from standard input: name a file",
	} {
		if _, err := Read(t.Context(), path); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
}

func TestPodDefaults(t *testing.T) {
	p := podNamed(t, parse1(t, pod+`    image: x
    env: [{name: PASSWORD, value: hunter2}]
    ports: [{containerPort: 80}]
    resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 100m}}
  hostNetwork: true
  schedulingGates: [{name: example.com/wait}]
  tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists}]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}, matchLabelKeys: [app]}
`), "p")
	c := p.Spec.Containers[0]
	if p.Namespace != "default" || p.Spec.SchedulerName != "default-scheduler" || p.Spec.RestartPolicy != corev1.RestartPolicyAlways ||
		*p.Spec.TerminationGracePeriodSeconds != 30 || p.Status.Phase != corev1.PodPending || len(p.UID) != 36 || p.ResourceVersion != "" {
		t.Errorf("%+v", p)
	}
	if c.Env != nil || c.Ports[0].HostPort != 80 || c.Ports[0].Protocol != corev1.ProtocolTCP ||
		c.Resources.Requests.Memory().String() != "1Gi" || c.Resources.Requests.Cpu().String() != "100m" {
		t.Errorf("%+v", c)
	}
	if ts := p.Spec.Tolerations; len(ts) != 2 || ts[1].Key != corev1.TaintNodeUnreachable || *ts[1].TolerationSeconds != 300 {
		t.Errorf("%+v", ts)
	}
	if cs := p.Status.Conditions; len(cs) != 1 || cs[0].Reason != corev1.PodReasonSchedulingGated {
		t.Errorf("%+v", cs)
	}
	if p.Spec.Priority != nil {
		t.Error("the priority is not Parse's to set")
	}
}

func TestLabelKeys(t *testing.T) {
	m := parse1(t, workload("Deployment", "web", "")+`      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: web}}
        matchLabelKeys: [pod-template-hash]
`)
	p := m.Objects[1].(*corev1.Pod)
	got := metav1.FormatLabelSelector(p.Spec.TopologySpreadConstraints[0].LabelSelector)
	if want := "app=web,pod-template-hash in (" + p.Labels["pod-template-hash"] + ")"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestStatefulSetVolumes(t *testing.T) {
	m := parse1(t, workload("StatefulSet", "db", "  replicas: 2\n  volumeClaimTemplates:\n  - metadata: {name: data}\n    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n")+
		"      volumes: [{name: other, persistentVolumeClaim: {claimName: o}}]\n"+
		"---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: \"true\"}}\nprovisioner: x\n")
	p := podNamed(t, m, "db-1")
	if v := p.Spec.Volumes; len(v) != 2 || v[0].PersistentVolumeClaim.ClaimName != "o" || v[1].PersistentVolumeClaim.ClaimName != "data-db-1" {
		t.Errorf("%+v", v)
	}
	if p.Labels["apps.kubernetes.io/pod-index"] != "1" || p.Labels["app"] != "web" {
		t.Errorf("%v", p.Labels)
	}
	c := m.Objects[1].(*corev1.PersistentVolumeClaim)
	if c.Labels["app"] != "web" || *c.Spec.StorageClassName != "fast" || c.Status.Phase != corev1.ClaimPending ||
		*c.Spec.VolumeMode != corev1.PersistentVolumeFilesystem {
		t.Errorf("%+v", c)
	}
}

func TestOtherDefaults(t *testing.T) {
	m := parse1(t, `
{apiVersion: v1, kind: Node, metadata: {name: node}, status: {capacity: {cpu: 4}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {volumeName: v}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {claimRef: {name: c}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: s}}
`)
	n := m.Objects[0].(*corev1.Node)
	if n.Status.Allocatable.Cpu().String() != "4" || n.Status.Allocatable.Pods().String() != "110" || n.Labels[corev1.LabelHostname] != "node" ||
		n.Status.Conditions[0].Status != corev1.ConditionTrue {
		t.Errorf("%+v", n)
	}
	c := m.Objects[1].(*corev1.PersistentVolumeClaim)
	if c.Status.Phase != corev1.ClaimBound || c.Annotations[volume.AnnBindCompleted] != "yes" {
		t.Errorf("%+v", c)
	}
	if v := m.Objects[2].(*corev1.PersistentVolume); v.Status.Phase != corev1.VolumeBound || *v.Spec.VolumeMode != corev1.PersistentVolumeFilesystem {
		t.Errorf("%+v", v)
	}
	if s := m.Objects[3].(*corev1.Namespace); s.Labels[corev1.LabelMetadataName] != "s" {
		t.Errorf("%+v", s)
	}
}

// TestNamesDiffer makes as many pods as a file may: five letters and digits collide among those.
func TestNamesDiffer(t *testing.T) {
	m := parse1(t, workload("ReplicaSet", "web", "  replicas: 10000\n"))
	if len(m.Objects) != 10_001 {
		t.Errorf("%d objects", len(m.Objects))
	}
	again := parse1(t, workload("ReplicaSet", "web", "  replicas: 10000\n"))
	if show(m) != show(again) {
		t.Error("another time, other names")
	}
}

func TestLikeNode(t *testing.T) {
	m := parse1(t, `
apiVersion: v1
kind: Node
metadata: {name: a, uid: "1", labels: {zone: z, topology.example.com/node: a, kubernetes.io/hostname: a.example.com}}
spec:
  unschedulable: true
  taints: [{key: gpu, effect: NoSchedule}, {key: node.kubernetes.io/unreachable, effect: NoExecute}]
status:
  capacity: {cpu: 4, pods: 20}
  conditions: [{type: Ready, status: Unknown}]
  images: [{names: [x]}]
`)
	old := m.Objects[0].(*corev1.Node)
	n := LikeNode(old, "b")
	if n.Name != "b" || n.UID == old.UID || n.Labels["zone"] != "z" || n.Labels["topology.example.com/node"] != "b" ||
		n.Labels[corev1.LabelHostname] != "b" || n.Spec.Unschedulable || len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != "gpu" ||
		n.Status.Allocatable.Pods().String() != "20" || n.Status.Conditions[0].Status != corev1.ConditionTrue || n.Status.Images != nil {
		t.Errorf("%+v", n)
	}
	if old.Labels[corev1.LabelHostname] != "a.example.com" || len(old.Spec.Taints) != 2 {
		t.Errorf("the old node was changed: %+v", old)
	}
}

func TestResolvePriority(t *testing.T) {
	never := corev1.PreemptNever
	classes := map[string]*schedulingv1.PriorityClass{
		"high": {ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000, PreemptionPolicy: &never},
		"low":  {ObjectMeta: metav1.ObjectMeta{Name: "low"}, Value: -5}}
	seven := int32(7)
	for _, c := range []struct {
		class, byDefault, node string
		priority               *int32
		want                   string
	}{
		{class: "high", want: "high 1000 Never"},
		{class: "system-node-critical", want: "system-node-critical 2000001000 PreemptLowerPriority"},
		{want: " 0 PreemptLowerPriority"},
		{byDefault: "low", want: "low -5 PreemptLowerPriority"},
		{class: "hihg", want: `pod p names the priority class "hihg", which does not exist`},
		{priority: &seven, want: "pod p has the priority 7, but its priority class gives 0: leave out spec.priority and name a class in spec.priorityClassName"},
		{priority: &seven, node: "n", class: "gone", want: "gone 7"},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
		p.Spec.PriorityClassName, p.Spec.Priority, p.Spec.NodeName = c.class, c.priority, c.node
		err := ResolvePriority(p, func(name string) (*schedulingv1.PriorityClass, bool) { k, ok := classes[name]; return k, ok },
			func() *schedulingv1.PriorityClass { return classes[c.byDefault] })
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%s %d", p.Spec.PriorityClassName, *p.Spec.Priority)
			if p.Spec.PreemptionPolicy != nil {
				got += " " + string(*p.Spec.PreemptionPolicy)
			}
		}
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(pod + "---\n" + workload("Deployment", "web", "  replicas: 2\n")))
	f.Add([]byte(workload("StatefulSet", "db", "  volumeClaimTemplates: [{metadata: {name: d}}]\n")))
	f.Add([]byte("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec: {restartPolicy: Never, containers: [{name: c}]}\n"))
	f.Add([]byte(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}]}`))
	f.Add([]byte("a: &a [1]\nb: *a\n<<: {kind: Pod, apiVersion: v1}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse("f", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f") || len(err.Error()) > 1500 || strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Fatalf("%q", err)
			}
			return
		}
		if len(m.Objects) == 0 {
			t.Fatal("no objects, no error")
		}
		for _, o := range m.Objects {
			a := o.(metav1.Object)
			if sources.CheckName(a.GetName()) != nil || a.GetUID() == "" || a.GetResourceVersion() != "" {
				t.Fatalf("%+v", o)
			}
			if _, err := sources.Trim(o); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestNodeDefaults: a new node has upstream's defaults, and a kubelet's.
func TestNodeDefaults(t *testing.T) {
	for _, resources := range []corev1.ResourceList{nil, {}, {"cpu": resource.MustParse("1500u"), "pods": resource.MustParse("9")}, {"cpu": resource.MustParse("4")}} {
		for _, allocatable := range []corev1.ResourceList{nil, {}, {"cpu": resource.MustParse("1n"), "pods": resource.MustParse("8")}} {
			n := &corev1.Node{Status: corev1.NodeStatus{Capacity: resources.DeepCopy(), Allocatable: allocatable.DeepCopy()}}
			want := n.DeepCopy()
			coredefaults.SetObjectDefaults_Node(want)
			for _, list := range []*corev1.ResourceList{&want.Status.Capacity, &want.Status.Allocatable} {
				if *list = list.DeepCopy(); *list == nil {
					*list = corev1.ResourceList{}
				}
				if _, ok := (*list)["pods"]; !ok {
					(*list)["pods"] = resource.MustParse("110")
				}
			}
			nodeDefaults(n)
			if !equality.Semantic.DeepEqual(n.Status.Capacity, want.Status.Capacity) || !equality.Semantic.DeepEqual(n.Status.Allocatable, want.Status.Allocatable) {
				t.Errorf("of %v and %v: %v and %v, want %v and %v", resources, allocatable, n.Status.Capacity, n.Status.Allocatable, want.Status.Capacity, want.Status.Allocatable)
			}
		}
	}
}
