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

// state is the compared part of an object.
type state struct{ UID, Node, Deleted string }

// cluster holds the objects by kind and name.
type cluster map[string]state

func stateOf(meta metav1.ObjectMeta, node string) state {
	h := state{UID: string(meta.UID), Node: node}
	if meta.DeletionTimestamp != nil {
		h.Deleted = meta.DeletionTimestamp.UTC().Format(time.RFC3339)
	}
	return h
}

// freshList lists pods, nodes, claims and volumes with a consistent read.
func freshList(ctx context.Context, client kubernetes.Interface) (cluster, *corev1.PodList, error) {
	objects := cluster{}
	core := client.CoreV1()
	pods, err := core.Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, p := range pods.Items {
		objects["Pod "+p.Namespace+"/"+p.Name] = stateOf(p.ObjectMeta, p.Spec.NodeName)
	}
	nodes, err := core.Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, n := range nodes.Items {
		objects["Node /"+n.Name] = stateOf(n.ObjectMeta, "")
	}
	claims, err := core.PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, c := range claims.Items {
		objects["PersistentVolumeClaim "+c.Namespace+"/"+c.Name] = stateOf(c.ObjectMeta, "")
	}
	volumes, err := core.PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, v := range volumes.Items {
		objects["PersistentVolume /"+v.Name] = stateOf(v.ObjectMeta, "")
	}
	return objects, pods, nil
}

// recorded returns the objects at the end of a trace. It fails the test if one is added twice, or
// changed or deleted without existing.
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
			t.Errorf("%s:%d: %s is added twice", path, i+1, name)
		case record.Verb != "added" && !there:
			t.Errorf("%s:%d: %s is %s but did not exist", path, i+1, name, record.Verb)
		}
		if record.Verb == "deleted" {
			delete(objects, name)
		} else {
			objects[name] = stateOf(o.Metadata, o.Spec.NodeName)
		}
	}
	return objects
}

// difference describes the first difference of two clusters, or returns "".
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
			return fmt.Sprintf("%s should not exist", name)
		}
	}
	return ""
}

// within is how long schedq may take to match the cluster. It retries watches up to half a minute after
// a connection was lost.
const within = time.Minute

// waitEqual waits until the recording at recordPath and the moves at movesPath match a fresh list.
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

// waitTiers waits until the moves at movesPath end with the waiting pods of a fresh list.
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

// waitEvents waits until kube-scheduler has written no FailedScheduling Event for as long as sessions wait
// for one while its rate limit delays Events. Sessions are then complete.
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

// sameTiers compares the queued pods after moves with the pods of a list that wait for kube-scheduler.
func sameTiers(moves []move, pods *corev1.PodList) error {
	in := tiers(moves)
	for _, p := range pods.Items {
		name := p.Namespace + "/" + p.Name
		if p.Spec.SchedulerName != corev1.DefaultSchedulerName {
			delete(in, name) // see checkForeign
			continue
		}
		waits := p.Spec.NodeName == "" && p.DeletionTimestamp == nil
		if tier, there := in[name]; there != waits {
			return fmt.Errorf("pod %s is in %q in the model, and on node %q in the list", name, tier, p.Spec.NodeName)
		}
		delete(in, name)
	}
	for name, tier := range in {
		return fmt.Errorf("pod %s is in %q in the model, but not in the list", name, tier)
	}
	return nil
}
