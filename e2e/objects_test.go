package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes"

	"github.com/schedq/schedq/e2e/controlplane"
)

// held is what is compared of an object: enough to tell that it is the same one, in the same state.
type held struct{ UID, Node, Deleted string }

// cluster is the objects that there are, by kind and name.
type cluster map[string]held

func heldOf(meta metav1.ObjectMeta, node string) held {
	h := held{UID: string(meta.UID), Node: node}
	if meta.DeletionTimestamp != nil {
		h.Deleted = meta.DeletionTimestamp.UTC().Format(time.RFC3339)
	}
	return h
}

// freshList lists pods, nodes, claims and volumes from the API server, and not from its cache.
func freshList(ctx context.Context, client kubernetes.Interface) (cluster, *corev1.PodList, error) {
	objects := cluster{}
	core := client.CoreV1()
	pods, err := core.Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, p := range pods.Items {
		objects["Pod "+p.Namespace+"/"+p.Name] = heldOf(p.ObjectMeta, p.Spec.NodeName)
	}
	nodes, err := core.Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, n := range nodes.Items {
		objects["Node /"+n.Name] = heldOf(n.ObjectMeta, "")
	}
	claims, err := core.PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, c := range claims.Items {
		objects["PersistentVolumeClaim "+c.Namespace+"/"+c.Name] = heldOf(c.ObjectMeta, "")
	}
	volumes, err := core.PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, v := range volumes.Items {
		objects["PersistentVolume /"+v.Name] = heldOf(v.ObjectMeta, "")
	}
	return objects, pods, nil
}

// recorded returns the objects that are there at the end of a trace. It fails the test if one is added
// twice, or changed or deleted without being there.
func recorded(t *testing.T, path string) cluster {
	t.Helper()
	objects := cluster{}
	for i, line := range readLines(t, path) {
		var record struct {
			Verb   string
			Object struct {
				Kind     string
				Metadata metav1.ObjectMeta
				Spec     struct{ NodeName string }
			}
		}
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatalf("%s:%d: %v", path, i+1, err)
		}
		o := record.Object
		switch o.Kind {
		case "Pod", "Node", "PersistentVolumeClaim", "PersistentVolume":
		default:
			continue
		}
		name := o.Kind + " " + o.Metadata.Namespace + "/" + o.Metadata.Name
		switch _, there := objects[name]; {
		case record.Verb == "added" && there:
			t.Errorf("%s:%d: %s is added a second time", path, i+1, name)
		case record.Verb != "added" && !there:
			t.Errorf("%s:%d: %s is %s and was not there", path, i+1, name, record.Verb)
		}
		if record.Verb == "deleted" {
			delete(objects, name)
		} else {
			objects[name] = heldOf(o.Metadata, o.Spec.NodeName)
		}
	}
	return objects
}

// difference says in what two clusters differ first. Empty if they do not.
func difference(got, want cluster) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if h, there := got[name]; !there {
			return fmt.Sprintf("%s is missing", name)
		} else if h != want[name] {
			return fmt.Sprintf("%s is %+v, want %+v", name, h, want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, there := want[name]; !there {
			return fmt.Sprintf("%s is there and should not be", name)
		}
	}
	return ""
}

// within is how long schedq may take to hold what the cluster holds. Its watches are asked anew up to half
// a minute after a connection was lost.
const within = time.Minute

// waitEqual waits until the recording at recordPath ends with the objects of a fresh list, and the moves
// at movesPath with the pods that wait in it: none lost, none twice.
func waitEqual(t *testing.T, client kubernetes.Interface, recordPath, movesPath string) {
	t.Helper()
	poll(t, func(ctx context.Context) error {
		want, pods, err := freshList(ctx, client)
		if err != nil {
			return err
		}
		if d := difference(recorded(t, recordPath), want); d != "" {
			return fmt.Errorf("the recording: %s", d)
		}
		return sameTiers(readMoves(t, movesPath), pods)
	})
}

// waitTiers waits until the moves at movesPath end with the pods that wait in a fresh list.
func waitTiers(t *testing.T, client kubernetes.Interface, movesPath string) {
	t.Helper()
	poll(t, func(ctx context.Context) error {
		_, pods, err := freshList(ctx, client)
		if err != nil {
			return err
		}
		return sameTiers(readMoves(t, movesPath), pods)
	})
}

// waitEvents waits until kube-scheduler has written no FailedScheduling Event for as long as sessions wait for one, that are behind the clock
// while its rate limit holds Events up: then they have told all.
func waitEvents(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	const behind = 2 * time.Second
	newest, since := "1", time.Now()
	poll(t, func(ctx context.Context) error {
		events, err := client.EventsV1().Events(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedScheduling"})
		if err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.ReportingController != corev1.DefaultSchedulerName {
				continue
			}
			order, err := resourceversion.CompareResourceVersion(e.ResourceVersion, newest)
			if err != nil {
				return err
			}
			if order > 0 {
				newest, since = e.ResourceVersion, time.Now()
			}
		}
		if ago := time.Since(since); ago < behind {
			return fmt.Errorf("kube-scheduler wrote an Event %v ago", ago)
		}
		return nil
	})
}

// poll waits until check returns nil.
func poll(t *testing.T, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), within, fmt.Errorf("not within %v", within))
	defer cancel()
	if err := controlplane.Poll(ctx, func() error { return check(ctx) }); err != nil {
		t.Fatal(err)
	}
}

// sameTiers compares the pods that are in the queue after moves with those of a list that wait for kube-scheduler.
func sameTiers(moves []move, pods *corev1.PodList) error {
	in := tiers(moves)
	for _, p := range pods.Items {
		name := p.Namespace + "/" + p.Name
		if p.Spec.SchedulerName != corev1.DefaultSchedulerName {
			delete(in, name) // leavesForeign looks at these
			continue
		}
		waits := p.Spec.NodeName == "" && p.DeletionTimestamp == nil
		if tier, there := in[name]; there != waits {
			return fmt.Errorf("the model has pod %s in %q, and in the list it is on node %q", name, tier, p.Spec.NodeName)
		}
		delete(in, name)
	}
	for name, tier := range in {
		return fmt.Errorf("the model has pod %s in %q, and the list does not have it", name, tier)
	}
	return nil
}
