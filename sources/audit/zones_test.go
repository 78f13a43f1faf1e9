package audit

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/sources"
)

// TestZones: where the API server copies a node's zone to the pods that are bound to it, a pod has it since then, and not since an
// answer shows it; where it does not, no pod gets one.
func TestZones(t *testing.T) {
	const inZone = `"labels":{"topology.kubernetes.io/zone":"z","topology.kubernetes.io/region":"r","rack":"7"}`
	const zoned = `"labels":{"topology.kubernetes.io/zone":"z","topology.kubernetes.io/region":"r"}`
	bind := func(at float64, name string) req {
		return req{at: at, verb: "create", resource: "pods", sub: "binding", ns: "default", name: name, body: `{"target":{"name":"node-a"}}`, response: success}
	}
	shown := func(at float64, name string, rv int, labels string) req {
		return req{at: at, verb: "patch", resource: "pods", sub: "status", ns: "default", name: name, response: pod(name, rv, onNode, labels)}
	}
	zonedNode := strings.Replace(node(1, ""), `"metadata":{`, `"metadata":{`+inZone+`,`, 1)
	for _, c := range []struct {
		name string
		log  []req
		want string // the labels of b, from its coming on
	}{
		{"copied", []req{created(1, "a", 2), created(1, "b", 3), bind(2, "a"), bind(2, "b"), shown(3, "a", 6, zoned)}, "1 map[], 2 map[topology.kubernetes.io/region:r topology.kubernetes.io/zone:z]"},
		{"not copied", []req{created(1, "a", 2), created(1, "b", 3), bind(2, "a"), bind(2, "b"), shown(3, "a", 6, `"labels":{}`)}, "1 map[], 2 map[]"},
		{"nothing shows it", []req{created(1, "a", 2), created(1, "b", 3), bind(2, "a"), bind(2, "b")}, "1 map[], 2 map[]"},
		{"a pod's own", []req{{at: 1, verb: "create", resource: "pods", ns: "default", response: pod("a", 2, zoned)}, created(1, "b", 3), bind(2, "a"), bind(2, "b"), shown(3, "a", 6, zoned)}, "1 map[], 2 map[]"},
		{"no more", []req{created(1, "a", 2), created(1, "c", 3), bind(1, "a"), bind(1, "c"), shown(2, "a", 6, zoned), shown(2, "c", 7, `"labels":{}`), created(3, "b", 8), bind(4, "b")}, "3 map[], 4 map[]"},
		{"it was there before", []req{created(1, "a", 2), bind(2, "a"), shown(3, "a", 6, zoned), bind(4, "b"), shown(5, "b", 9, old+","+zoned)}, "0 map[], 4 map[topology.kubernetes.io/region:r topology.kubernetes.io/zone:z]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := req{at: 0.5, verb: "create", resource: "nodes", name: "node-a", response: zonedNode}.line()
			for _, r := range c.log {
				text += r.line()
			}
			log, err := read(t, text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range order(log) {
				change, is := e.Fact.(*sources.ObjectChange)
				if !is {
					continue
				}
				if pod, is := change.Object.(*corev1.Pod); is && pod.Name == "b" {
					got = append(got, fmt.Sprintf("%d %v", e.Time.Second(), pod.Labels))
				}
			}
			if got := strings.Join(got, ", "); !strings.HasPrefix(got, c.want) {
				t.Errorf("b has %s, want %s", got, c.want)
			}
		})
	}
}
