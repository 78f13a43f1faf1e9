package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/schedq/schedq/e2e/controlplane"
	"github.com/schedq/schedq/e2e/workload"
)

// TestFaults cuts schedq off in each way that a cluster can, changes the cluster meanwhile, and expects
// that afterwards schedq holds what a fresh list holds: nothing lost, nothing twice.
func TestFaults(t *testing.T) {
	c := startControlPlane(t, controlplane.Options{})
	client, err := c.Client(controlplane.Admin)
	if err != nil {
		t.Fatal(err)
	}
	grant(t, client)
	proxy := startProxy(t, c.APIAddress(), 0)
	kubeconfig := schedqKubeconfig(t, c, proxy.address())
	recording := filepath.Join(t.TempDir(), "recording.jsonl")
	recorder := attach(t, kubeconfig, "record", "-o", recording)
	watcher := attach(t, kubeconfig, "watch", "-o", "json")
	window := attachTerminal(t, kubeconfig)
	window.waitFor(t, "activeQ", true)

	run := workload.NewRunner(client, workload.Options{Seed: *seed, Nodes: 4, Steps: 300, Duration: 30 * time.Second, Stuck: 4})
	if err := run.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	change := func(t *testing.T) {
		t.Helper()
		if err := run.Next(t.Context(), 30); err != nil {
			t.Fatal(err)
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
	}
	change(t)
	waitEqual(t, client, recording, watcher.out)

	t.Run("cut connection", func(t *testing.T) {
		before := lists(t, c.AuditLog())
		proxy.cut()
		change(t)
		window.waitFor(t, "STALE since", true)
		proxy.mend()
		change(t)
		waitEqual(t, client, recording, watcher.out)
		window.waitFor(t, "STALE since", false)
		if n := lists(t, c.AuditLog()) - before; n > 0 {
			t.Errorf("schedq has listed the pods %d times where it could have gone on", n)
		}
	})
	t.Run("slow link", func(t *testing.T) {
		proxy.slowly(true)
		change(t)
		waitEqual(t, client, recording, watcher.out)
		proxy.cut() // and connected again over it
		change(t)
		proxy.mend()
		waitEqual(t, client, recording, watcher.out)
		proxy.slowly(false)
		window.waitFor(t, "STALE since", false)
	})
	t.Run("API server and scheduler restarted", func(t *testing.T) {
		// The API server takes so long that the scheduler can't keep its lease, and ends by itself.
		c.StopAPIServer()
		if err := c.StartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		restarted := time.Now()
		if err := c.RestartScheduler(t.Context()); err != nil {
			t.Fatal(err)
		}
		poll(t, func(ctx context.Context) error { return begunAnew(ctx, client, readMoves(t, watcher.out), restarted) })
		change(t)
		waitEqual(t, client, recording, watcher.out)
	})
	t.Run("compacted etcd", func(t *testing.T) {
		// A watch that goes on from before the compaction is answered 410 Gone by an API server that
		// has not seen those changes itself: all has to be listed again.
		proxy.cut()
		change(t)
		compact(t, c.EtcdURL())
		c.KillAPIServer()
		if err := c.StartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := lists(t, c.AuditLog())
		proxy.mend()
		change(t)
		waitEqual(t, client, recording, watcher.out)
		if lists(t, c.AuditLog()) == before {
			t.Error("nothing was listed again: nothing was gone")
		}
	})
	watcher.stop(t)
	t.Run("expired token", func(t *testing.T) {
		g := admitGuest(t, c, client, proxy.address())
		guest := attach(t, g.kubeconfig, "watch", "-o", "json")
		guest.waitWatching(t)
		waitTiers(t, client, guest.out)
		g.expire(t, client)
		proxy.cut() // what is connected stays so
		proxy.mend()
		change(t)
		guest.waitSaying(t, "stale")
		g.renew(t, client)
		change(t)
		waitTiers(t, client, guest.out)
	})
	t.Run("recorder killed", func(t *testing.T) {
		name := "last-words"
		_, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond) // the last second may be lost, and the watch has some delay
		if err := recorder.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-recorder.exited
		if _, there := recorded(t, recording)["Node /"+name]; !there {
			t.Error("what came more than a second before the end is not in the recording")
		}
		if out, err := exec.Command(schedq, "watch", "-o", "json", recording).CombinedOutput(); err != nil || len(out) == 0 {
			t.Errorf("the recording can't be played: %v\n%s", err, out)
		}
	})
	onlyReads(t, c.AuditLog())
	holdsNoSecret(t, recording, recorder.out, recorder.errs, watcher.out, watcher.errs)
	window.holdsNoSecret(t)
}

// begunAnew returns an error as long as some pod that waits has not come to the queue since a time. A new
// scheduler knows of no attempt, and begins with all that waits.
func begunAnew(ctx context.Context, client kubernetes.Interface, moves []move, since time.Time) error {
	came := map[string]bool{}
	for _, m := range moves {
		if m.Event == "UnscheduledPodAdd" && m.Time.After(since) {
			came[m.Pod] = true
		}
	}
	_, pods, err := freshList(ctx, client)
	if err != nil {
		return err
	}
	for _, p := range pods.Items {
		if name := p.Namespace + "/" + p.Name; p.Spec.NodeName == "" && !came[name] {
			return fmt.Errorf("the model has not begun anew with %s", name)
		}
	}
	return nil
}

// compact makes etcd forget all but the present.
func compact(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second, fmt.Errorf("etcd does not answer within 20 s"))
	defer cancel()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	now, err := client.Get(ctx, "compact")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
}

// lists returns how often schedq has asked for all pods that there are.
func lists(t *testing.T, auditLog string) int {
	t.Helper()
	n := 0
	for _, line := range readLines(t, auditLog) {
		if bytes.Contains(line, []byte(`"username":"`+controlplane.SchedqUser+`"`)) && bytes.Contains(line, []byte(`"requestURI":"/api/v1/pods?`)) &&
			(bytes.Contains(line, []byte("sendInitialEvents=true")) || bytes.Contains(line, []byte(`"verb":"list"`))) &&
			!bytes.Contains(line, []byte(`"stage":"ResponseComplete"`)) {
			n++
		}
	}
	return n
}
