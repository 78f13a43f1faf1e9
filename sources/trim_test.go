package sources

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
)

// everything is a pod that has all of what must not survive, and all of what must.
const everything = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"default","uid":"u-1",
 "resourceVersion":"7","generation":2,"creationTimestamp":"2026-11-21T10:56:19Z","labels":{"app":"web"},
 "annotations":{"secret":"hunter2"},"managedFields":[{"manager":"hunter2"}],"generateName":"hunter2",
 "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"u-2","controller":true,"blockOwnerDeletion":true}]},
 "spec":{"containers":[{"name":"c","image":"i","command":["hunter2"],"args":["hunter2"],"env":[{"name":"A","value":"hunter2"}],
 "envFrom":[{"secretRef":{"name":"hunter2"}}],"resources":{"requests":{"cpu":"1"}},"ports":[{"hostPort":80,"containerPort":80}],
 "livenessProbe":{"exec":{"command":["hunter2"]}},"lifecycle":{"preStop":{"exec":{"command":["hunter2"]}}},
 "volumeMounts":[{"name":"v","mountPath":"/hunter2"}],"workingDir":"/hunter2"}],
 "initContainers":[{"name":"i","image":"i","env":[{"name":"A","value":"hunter2"}],"restartPolicy":"Always"}],
 "ephemeralContainers":[{"name":"e","command":["hunter2"]}],"hostname":"hunter2","imagePullSecrets":[{"name":"hunter2"}],
 "serviceAccountName":"hunter2","volumes":[{"name":"a","secret":{"secretName":"hunter2"}},{"name":"b","configMap":{"name":"hunter2"}},
 {"name":"c","hostPath":{"path":"/hunter2"}},{"name":"d","persistentVolumeClaim":{"claimName":"data"}},
 {"name":"e","csi":{"driver":"csi.example.com","nodePublishSecretRef":{"name":"hunter2"},"volumeAttributes":{"a":"hunter2"}}},
 {"name":"f","ephemeral":{"volumeClaimTemplate":{"metadata":{"annotations":{"a":"hunter2"}},"spec":{}}}},
 {"name":"g","rbd":{"monitors":["m"],"image":"i","keyring":"hunter2","secretRef":{"name":"hunter2"}}}],
 "nodeSelector":{"disk":"ssd"},"nodeName":"node-a","hostNetwork":true,"schedulerName":"s","priority":10,"priorityClassName":"high",
 "preemptionPolicy":"Never","overhead":{"cpu":"1m"},"schedulingGates":[{"name":"example.com/quota"}],
 "tolerations":[{"key":"k","operator":"Exists"}],"resourceClaims":[{"name":"gpu","resourceClaimName":"gpu-1"}],
 "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}],
 "affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}}},
 "status":{"phase":"Pending","nominatedNodeName":"node-b","podIP":"10.9.9.9","message":"hunter2",
 "conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no \u001b[31mnode"},
 {"type":"Ready","status":"False","reason":"ContainersNotReady","message":"hunter2"}],
 "containerStatuses":[{"name":"c","image":"hunter2","imageID":"","allocatedResources":{"cpu":"1"},"state":{"waiting":{"message":"hunter2"}}}]}}`

func TestTrimPod(t *testing.T) {
	obj, err := NewDecoder().Decode([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2", "annotations", "managedFields", `"env`, "10.9.9.9", `\u001b`, "blockOwner"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is left in %s", secret, text)
		}
	}
	for _, kept := range []string{`"app":"web"`, `"u-2"`, `"controller":true`, `"cpu":"1"`, `"hostPort":80`, `"restartPolicy":"Always"`,
		`"claimName":"data"`, `"driver":"csi.example.com"`, `"ephemeral":{}`, `"image":"i"`, `"disk":"ssd"`, `"nodeName":"node-a"`,
		`"hostNetwork":true`, `"schedulerName":"s"`, `"priority":10`, `"high"`, `"Never"`, `"1m"`, `"example.com/quota"`, `"Exists"`,
		`"gpu-1"`, `"DoNotSchedule"`, `"podAntiAffinity"`, `"node-b"`, "no ␛[31mnode", `"allocatedResources":{"cpu":"1"}`,
		`"resourceVersion":"7"`, `"generation":2`, `"2026-11-21T10:56:19Z"`, `"Pod"`} {
		if !strings.Contains(string(text), kept) {
			t.Errorf("%s is gone from %s", kept, text)
		}
	}
	again, err := Trim(obj)
	if err != nil || !reflect.DeepEqual(obj, again) {
		t.Errorf("a trimmed object is trimmed further: %v\n%v\n%v", err, obj, again)
	}
}

// TestTrimDoesNotTouch trims an object of an informer's cache, which others share.
func TestTrimDoesNotTouch(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Labels: map[string]string{"k": "a\u202eb"},
		Annotations: map[string]string{"a": "b"}}}
	before := node.DeepCopy()
	out, err := Trim(node)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(node, before) {
		t.Errorf("changed to %v", node)
	}
	n := out.(*corev1.Node)
	if n.Kind != "Node" || n.APIVersion != "v1" || n.Labels["k"] != "a<U+202E>b" || n.Annotations != nil {
		t.Errorf("%+v", n)
	}
}

func TestTrimKeepsNotes(t *testing.T) {
	out, err := Trim(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "n",
		Annotations: map[string]string{annBindCompleted: "yes", AnnSelectedNode: "node-a", "other": "hunter2"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{annBindCompleted: "yes", AnnSelectedNode: "node-a"}
	if got := out.(metav1.Object).GetAnnotations(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func TestTrimCEL(t *testing.T) {
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "a // b\n&& c\x1b"}}}}}
	out, err := Trim(class)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.(*resourcev1.DeviceClass).Spec.Selectors[0].CEL.Expression; got != "a // b\n&& c␛" {
		t.Errorf("%q", got)
	}
}

func TestDecodeErrors(t *testing.T) {
	pod := func(metadata, spec string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":` + metadata + `,"spec":` + spec + `}`
	}
	for _, c := range []struct{ name, in, want string }{
		{"escape codes", pod(`{"name":"a\u001b[31mb"}`, `{}`), `"a␛[31mb" is not a Kubernetes object name`},
		{"namespace", pod(`{"name":"a","namespace":"B"}`, `{}`), `namespace of Pod a, "B" is not`},
		{"no name", pod(`{}`, `{}`), `in a Pod, an object's name is empty`},
		{"no metadata", `{"apiVersion":"v1","kind":"Pod"}`, `a Pod has no metadata`},
		{"uid", pod(`{"name":"a","uid":"\u009b"}`, `{}`), `the uid of Pod a is not one: "<U+009B>"`},
		{"revision", pod(`{"name":"a","resourceVersion":"x"}`, `{}`), `the resourceVersion of Pod a is not a number: "x"`},
		{"wrong type", pod(`{"name":"a"}`, `{"containers":7}`), `a Pod cannot be decoded: `},
		{"not JSON", `{"apiVersion":"v1","kind":"Pod"`, `not a JSON object`},
		{"no object", `[]`, `not a JSON object`},
		{"endless negative exponent", pod(`{"name":"a"}`, `{"overhead":{"cpu":"1e-99999999"}}`), `holds a number out of range (a quantity has at most 100 digits, and at most 3 in its exponent): 1e-99999999`},
		{"the same, bare", pod(`{"name":"a"}`, `{"overhead":{"cpu":1e-99999999}}`), `holds a number out of range (a quantity has at most 100 digits, and at most 3 in its exponent): 1e-99999999`},
		{"the same, escaped", pod(`{"name":"a"}`, `{"overhead":{"cpu":"1\u0065-99999999"}}`), `cannot be decoded`},
		{"the same, padded", pod(`{"name":"a"}`, `{"overhead":{"cpu":"  -1.5E-99999999 "}}`), `holds a number out of range (a quantity has at most 100 digits, and at most 3 in its exponent): -1.5E-99999999`},
		{"endless positive exponent", pod(`{"name":"a"}`, `{"overhead":{"cpu":"1e99999999"}}`), `holds a number out of range (a quantity has at most 100 digits, and at most 3 in its exponent): 1e99999999`},
		{"infinite", pod(`{"name":"a"}`, `{"overhead":{"cpu":"1e999"}}`), `Pod a: a number out of range (a quantity is at most 1e+30)`},
		{"ancient", pod(`{"name":"a","creationTimestamp":"0000-01-01T00:00:00+23:00"}`, `{}`), `Pod a: a time is out of range`},
		{"endless zero", pod(`{"name":"a"}`, `{"overhead":{"cpu":"0e99999999"}}`), ``},
		{"a million digits", pod(`{"name":"a"}`, `{"overhead":{"cpu":"`+strings.Repeat("9", 1<<20)+`"}}`), `holds a number out of range (a quantity has at most 100 digits, and at most 3 in its exponent): 9999`},
		{"a million containers", pod(`{"name":"a"}`, `{"containers":[`+strings.Repeat("{},", 1<<20)+`{}]}`), `more than 200000 parts`},
		{"many containers", pod(`{"name":"a"}`, `{"containers":[`+strings.Repeat("{},", 5000)+`{}]}`), `a list has 5001 elements`},
		{"too large", pod(`{"name":"a"}`, `{"hostname":"`+strings.Repeat("a", 5<<20)+`"}`), `the limit is 4194304`},
		{"deep", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":` + strings.Repeat(`{"a":`, 1<<17) + `1` + strings.Repeat(`}`, 1<<17) + `}`,
			`exceeded max depth`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewDecoder().Decode([]byte(c.in))
			if c.want == "" {
				return // whatever it says, it comes to an end
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			if len(err.Error()) > 500 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestDecodeTakesOrdinaryText(t *testing.T) {
	for _, uid := range []string{"6d45b9c6-9c3e-8803-ad45-3e-12345678", "12e-345-6", "1234e567"} {
		if _, err := NewDecoder().Decode([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"` + uid + `","labels":{"commit":"4e382910"}}}`)); err != nil {
			t.Error(err)
		}
	}
	if obj, err := NewDecoder().Decode([]byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`)); obj != nil || err != nil {
		t.Errorf("%v %v", obj, err)
	}
}

// TestDecoderShares checks that a pod's second version shares the specification, and only if it is the same.
func TestDecoderShares(t *testing.T) {
	d := NewDecoder()
	decode := func(rv, cpu string) *corev1.Pod {
		obj, err := d.Decode([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"` + rv +
			`","managedFields":[{"manager":"m"}]},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"` + cpu +
			`"}}}]},"status":{"phase":"Pending"}}`))
		if err != nil {
			t.Fatal(err)
		}
		return obj.(*corev1.Pod)
	}
	a, b, c := decode("1", "1"), decode("2", "1"), decode("3", "2")
	if &a.Spec.Containers[0] != &b.Spec.Containers[0] || b.ResourceVersion != "2" || b.Status.Phase != "Pending" {
		t.Errorf("not shared: %+v", b)
	}
	if cpu := c.Spec.Containers[0].Resources.Requests.Cpu(); cpu.Value() != 2 {
		t.Errorf("%v", cpu)
	}
	d.Forget("u")
	if e := decode("4", "2"); len(d.pods) != 1 || &e.Spec.Containers[0] == &c.Spec.Containers[0] {
		t.Errorf("of %d pods, one that was forgotten is remembered", len(d.pods))
	}
}

// watched are the kinds that kube-scheduler watches, with their versions.
var watched = [][2]string{{"v1", "Pod"}, {"v1", "Node"}, {"v1", "PersistentVolume"}, {"v1", "PersistentVolumeClaim"},
	{"v1", "Namespace"}, {"v1", "Service"}, {"v1", "ReplicationController"}, {"apps/v1", "ReplicaSet"}, {"apps/v1", "StatefulSet"},
	{"policy/v1", "PodDisruptionBudget"}, {"scheduling.k8s.io/v1", "PriorityClass"}, {"scheduling.k8s.io/v1beta1", "PodGroup"},
	{"resource.k8s.io/v1", "ResourceClaim"}, {"resource.k8s.io/v1", "ResourceSlice"}, {"resource.k8s.io/v1", "DeviceClass"},
	{"resource.k8s.io/v1", "DeviceTaintRule"}, {"storage.k8s.io/v1", "StorageClass"}, {"storage.k8s.io/v1", "CSINode"},
	{"storage.k8s.io/v1", "CSIDriver"}, {"storage.k8s.io/v1", "CSIStorageCapacity"}, {"storage.k8s.io/v1", "VolumeAttachment"}}

func TestNewObject(t *testing.T) {
	for _, c := range watched {
		obj := NewObject(c[0], c[1])
		if obj == nil {
			t.Errorf("%v is not known", c)
			continue
		}
		obj.(metav1.Object).SetName("a")
		out, err := Trim(obj)
		if err != nil || reflect.TypeOf(out) != reflect.TypeOf(obj) {
			t.Errorf("%v: %T %v", c, out, err)
		}
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		if out, err = Trim(obj); err != nil || out.GetObjectKind().GroupVersionKind().Kind != c[1] {
			t.Errorf("%v: its kind is not found: %v", c, err)
		}
	}
	if _, err := Trim(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); err == nil {
		t.Error("a Secret was taken")
	}
	if NewObject("v1", "Secret") != nil || NewObject("", "") != nil {
		t.Error("a Secret is not watched")
	}
}

func TestTrimBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "a"},
			Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "labels")}}}
		out, err := Trim(budget)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range out.(*policyv1.PodDisruptionBudget).Spec.Selector.MatchLabels {
			checkSafe(t, k)
			if string(Sanitize(k)) != k || string(Sanitize(v)) != v {
				t.Fatalf("%q: %q is left", k, v)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(usual)
	f.Add(usualNode)
	f.Add(everything)
	f.Add(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"status":{"capacity":{"cpu":"1e99"},"images":[{"names":["a"]}]}}`)
	f.Add(`{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1","metadata":{"name":"n"},"spec":{"devices":[{"name":"d","capacity":{"m":{"value":"1Gi"}}}]}}`)
	f.Fuzz(func(t *testing.T, in string) {
		d := NewDecoder()
		obj, err := d.Decode([]byte(in))
		if err != nil || obj == nil {
			return
		}
		again, err := d.Decode([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		a, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := json.Marshal(again); string(a) != string(b) {
			t.Fatalf("not the same:\n%s\n%s", a, b)
		}
		third, err := Trim(obj)
		if err != nil {
			t.Fatal(err)
		}
		if c, _ := json.Marshal(third); string(a) != string(c) {
			t.Fatalf("not stable:\n%s\n%s", a, c)
		}
	})
}
