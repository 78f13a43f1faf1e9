package sources

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources/jsonscan"
)

// usual is a pod as kube-apiserver writes it, with all that is decoded of one.
const usual = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-1","generateName":"web-","namespace":"shop","uid":"5a7c","resourceVersion":"812","generation":2,` +
	`"creationTimestamp":"2026-11-21T10:00:03Z","deletionTimestamp":"2026-11-21T10:00:33.5+02:00","deletionGracePeriodSeconds":30,"labels":{"app":"web","tier":""},` +
	`"annotations":{"a":"b"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"77","controller":true,"blockOwnerDeletion":true}],` +
	`"managedFields":[{"manager":"kubelet","operation":"Update","fieldsV1":{"f:status":{"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{}}}}}]},` +
	`"spec":{"volumes":[{"name":"kube-api-access","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}}],"defaultMode":420}},` +
	`{"name":"data","persistentVolumeClaim":{"claimName":"data-1","readOnly":true}}],"initContainers":[{"name":"i","image":"i:1","restartPolicy":"Always"}],` +
	`"containers":[{"name":"c","image":"c:1","command":["a","b\"c"],"env":[{"name":"A","value":"secret"}],"ports":[{"name":"http","hostPort":80,"containerPort":8080,"protocol":"TCP","hostIP":"::1"}],` +
	`"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m","memory":"1.5Gi","ephemeral-storage":"0"},"claims":[{"name":"gpu"}]},"terminationMessagePath":"/dev/termination-log"}],` +
	`"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","nodeSelector":{"disk":"ssd"},"serviceAccountName":"default","nodeName":"node-7","hostNetwork":true,"hostUsers":false,` +
	`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}},"schedulerName":"default-scheduler",` +
	`"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"a","operator":"Equal","value":"b"}],` +
	`"priorityClassName":"high","priority":-10,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority","overhead":{"cpu":"250m"},` +
	`"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}],"schedulingGates":[{"name":"g"}],"resourceClaims":[{"name":"gpu","resourceClaimName":"gpu-1"}],"resources":{"limits":{"cpu":"2"}}},` +
	`"status":{"observedGeneration":2,"phase":"Pending","conditions":[{"type":"PodScheduled","observedGeneration":1,"status":"False","lastProbeTime":null,"lastTransitionTime":"2026-11-21T10:00:03Z","reason":"Unschedulable",` +
	`"message":"0/5 nodes are available: 5 Insufficient cpu. \"quoted\" é"},{"type":"Ready","status":"False","message":"gone"}],"nominatedNodeName":"node-2","hostIP":"10.0.0.1","startTime":"2026-11-21T10:00:04Z",` +
	`"containerStatuses":[{"name":"c","state":{"running":{"startedAt":"2026-11-21T10:00:05Z"}},"allocatedResources":{"cpu":"100m"},"resources":{"requests":{"cpu":"100m"}}},{"name":"d","ready":true}],` +
	`"qosClass":"Burstable","resize":"Deferred","resourceClaimStatuses":[{"name":"gpu","resourceClaimName":"gpu-1"}],"allocatedResources":{"cpu":"3"}}}`

// usualNode is such a node.
const usualNode = `{"kind":"Node","apiVersion":"v1","metadata":{"name":"node-7","uid":"6b1d","resourceVersion":"813","creationTimestamp":"2026-11-21T09:00:03Z",` +
	`"labels":{"kubernetes.io/hostname":"node-7","disk":"ssd"},"annotations":{"volumes.kubernetes.io/controller-managed-attach-detach":"true"},` +
	`"managedFields":[{"manager":"kubelet","operation":"Update","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{}}}}}]},` +
	`"spec":{"podCIDR":"10.2.7.0/24","providerID":"aws:///b/i-0f3c","unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule","timeAdded":"2026-11-21T10:00:03Z"},` +
	`{"key":"dedicated","value":"db","effect":"NoExecute"}],"podPreemptionPolicy":{"disableResizePreemption":["Deferred"]}},` +
	`"status":{"capacity":{"cpu":"16","memory":"65438484Ki","pods":"110"},"allocatable":{"cpu":"15890m","memory":"60Gi","pods":"110","hugepages-1Gi":"0"},` +
	`"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-11-21T10:05:03Z","lastTransitionTime":"2026-11-21T09:00:03Z","reason":"KubeletReady","message":"it is \"ready\""},` +
	`{"type":"DiskPressure","status":"False"}],"addresses":[{"type":"InternalIP","address":"10.0.0.7"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},"nodeInfo":{"machineID":"ec2f"},` +
	`"images":[{"names":["registry.example/app@sha256:00ff","registry.example/app:1"],"sizeBytes":123456789},{"names":["pause:3.10"],"sizeBytes":7}],` +
	`"runtimeHandlers":[{"name":"runc"}],"features":{"supplementalGroupsPolicy":true},"declaredFeatures":["GuaranteedQoSPodCPUResize"]}}`

// written are a pod and a node as kube-apiserver writes them, the members that Trim drops of each, and how many of its changed texts
// can be decoded at least.
var written = []struct {
	kind, text string
	dropped    []string
	decoded    int
}{
	{"Pod", usual, []string{"projected", "command", "env", "terminationMessagePath", "dnsPolicy", "serviceAccountName", "enableServiceLinks", "state", "ready", "qosClass",
		"message", "observedGeneration", "hostIP"}, 1000}, // the last three are kept elsewhere
	{"Node", usualNode, []string{"podCIDR", "providerID", "lastHeartbeatTime", "lastTransitionTime", "reason", "message", "addresses", "daemonEndpoints", "nodeInfo",
		"runtimeHandlers"}, 500},
}

// slowly decodes an object as those are decoded of which there are few.
func slowly(kind, text string) (runtime.Object, error) {
	obj := NewObject("v1", kind)
	if err := decode([]byte(text), kind, obj); err != nil {
		return nil, err
	}
	return Trim(obj)
}

// TestPartTwice: what encoding/json makes one of is left to it.
func TestPartTwice(t *testing.T) {
	for _, part := range []string{`"metadata":{"labels":{"app":"db"}}`, `"spec":{"nodeName":"node-8","unschedulable":false}`, `"status":{"phase":"Running"}`} {
		for _, w := range written {
			text := strings.TrimSuffix(w.text, "}") + "," + part + "}"
			want, err := slowly(w.kind, text)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := NewDecoder().Decode([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v\n%s\nwant\n%s", err, asJSON(t, got), asJSON(t, want))
			}
		}
	}
}

// TestUsual: of a pod or a node as kube-apiserver writes it nothing is left to encoding/json, and what is made of it is the same.
func TestUsual(t *testing.T) {
	for _, w := range written {
		e, err := Open([]byte(w.text))
		if err != nil {
			t.Fatal(err)
		}
		if d := NewDecoder(); w.kind == "Pod" && !d.isUsual(e, &corev1.Pod{}, false) || w.kind == "Node" && !d.isUsualNode(e, &corev1.Node{}) {
			t.Fatal("a part of it is left to encoding/json")
		}
		want, err := slowly(w.kind, w.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := NewDecoder().Decode([]byte(w.text))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nwant\n%s", asJSON(t, got), asJSON(t, want))
		}
	}
}

// TestManyImages: of a node's images as many are kept as Trim keeps.
func TestManyImages(t *testing.T) {
	const image = `{"names":["pause:3.10"],"sizeBytes":7}`
	text := strings.Replace(usualNode, image, strings.Repeat(image+",", maxImages)+image, 1)
	want, err := slowly("Node", text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := NewDecoder().Decode([]byte(text))
	if err != nil || !reflect.DeepEqual(got, want) || len(got.(*corev1.Node).Status.Images) != maxImages {
		t.Errorf("%v\n%s\nwant\n%s", err, asJSON(t, got), asJSON(t, want))
	}
}

// TestUnusual changes a value in the text of a usual pod or node: the result equals that of encoding/json and Trim, except
// that trimmed values are not checked.
func TestUnusual(t *testing.T) {
	for _, w := range written {
		t.Run(w.kind, func(t *testing.T) { testUnusual(t, w.kind, w.text, w.dropped, w.decoded) })
	}
}

func testUnusual(t *testing.T, kind, usual string, dropped []string, least int) {
	ordinary, err := slowly(kind, usual)
	if err != nil {
		t.Fatal(err)
	}
	changes := []string{`null`, `{}`, `[]`, `""`, `0`, `-0`, `-7`, `01`, `1e3`, `1.5`, `true`, `"\u0041"`, `"\ud800"`, "\"\x01\"", "\"\xff\"", `"é"`, `"1e3"`,
		`"1e-99999999"`, `" 1"`, `"-1"`, `"1Zi"`, `"5m"`, ` 1`, `[null]`, `[{}]`, `{"a":null}`, `{"a":"b"}`, `99999999999`, `1234567890123456789012`,
		`"2026-11-21T10:00:03.123456789Z"`, `"yesterday"`, `"Terminated"`, strings.Repeat(`[`, 20_000) + strings.Repeat(`]`, 20_000)}
	decoded := 0
	for _, v := range valuesOf(usual, dropped, true) {
		for _, to := range changes {
			text := usual[:v.from] + to + usual[v.to:]
			want, slowErr := slowly(kind, text)
			got, err := NewDecoder().Decode([]byte(text))
			switch {
			case got == nil && err == nil: // no such object any more
			case !v.kept && err == nil && slowErr != nil:
				if !reflect.DeepEqual(got, ordinary) {
					t.Errorf("%s made of %.60s\n%s", usual[v.from:v.to], to, asJSON(t, got))
				}
			case (err != nil) != (slowErr != nil):
				t.Errorf("%s made of %.60s: %v, want %v", usual[v.from:v.to], to, err, slowErr)
			case err == nil:
				decoded++
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s made of %.60s\n%s\nwant\n%s", usual[v.from:v.to], to, asJSON(t, got), asJSON(t, want))
				}
			}
		}
	}
	if decoded < least {
		t.Errorf("of the changed texts %d can be decoded", decoded)
	}
}

// place is where a value is in a text, and whether Trim keeps it.
type place struct {
	from, to int
	kept     bool
}

// droppedMeta are the members that Trim drops of metadata.
var droppedMeta = []string{"generateName", "annotations", "managedFields", "deletionGracePeriodSeconds", "blockOwnerDeletion"}

// valuesOf returns the places of all values in a text.
func valuesOf(text string, dropped []string, kept bool) (all []place) {
	raw := []byte(text)
	inside := func(value []byte, kept bool) {
		from := len(raw) - (cap(value) - (cap(raw) - len(raw)))
		for _, v := range valuesOf(string(value), dropped, kept) {
			all = append(all, place{from + v.from, from + v.to, v.kept})
		}
	}
	all = append(all, place{0, len(text), kept})
	switch raw[0] {
	case '{':
		_ = jsonscan.Members(raw, func(name, value []byte) bool {
			inside(value, kept && !slices.Contains(droppedMeta, string(name)) && !slices.Contains(dropped, string(name)) && string(value) != `"kube-api-access"`) // of a volume that is dropped
			return true
		})
	case '[':
		_ = jsonscan.Elements(raw, func(value []byte) error {
			inside(value, kept)
			return nil
		})
	}
	return all
}

func asJSON(t *testing.T, v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
