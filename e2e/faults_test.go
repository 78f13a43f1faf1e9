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

// TestFaults interrupts schedq's connection in various ways, changes the cluster meanwhile, and expects
// schedq to match a fresh list afterwards, without lost or duplicate objects.
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
			t.Errorf("schedq has listed the pods %d times instead of resuming its watch", n)
		}
	})
	t.Run("slow link", func(t *testing.T) {
		proxy.setSlow(true)
		change(t)
		waitEqual(t, client, recording, watcher.out)
		proxy.cut() // reconnect over the slow link
		change(t)
		proxy.mend()
		waitEqual(t, client, recording, watcher.out)
		proxy.setSlow(false)
		window.waitFor(t, "STALE since", false)
	})
	t.Run("API server and scheduler restarted", func(t *testing.T) {
		// The restart takes so long that the scheduler loses its lease and exits.
		c.StopAPIServer()
		if err := c.StartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		restarted := time.Now()
		if err := c.RestartScheduler(t.Context()); err != nil {
			t.Fatal(err)
		}
		poll(t, func(ctx context.Context) error {
			return checkRestart(ctx, client, readMoves(t, watcher.out), restarted)
		})
		change(t)
		waitEqual(t, client, recording, watcher.out)
	})
	t.Run("compacted etcd", func(t *testing.T) {
		// A watch that resumes from before the compaction gets 410 Gone from a restarted API server, so
		// schedq must list again.
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
			t.Error("schedq has not listed again")
		}
	})
	watcher.stop(t)
	t.Run("expired token", func(t *testing.T) {
		user := createTokenUser(t, c, client, proxy.address())
		guest := attach(t, user.kubeconfig, "watch", "-o", "json")
		guest.waitWatching(t)
		waitTiers(t, client, guest.out)
		user.expire(t, client)
		proxy.cut() // existing connections would stay authenticated
		proxy.mend()
		change(t)
		guest.waitStderr(t, "stale")
		user.renew(t, client)
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
			t.Error("an object from more than a second before the end is missing from the recording")
		}
		if out, err := exec.Command(schedq, "watch", "-o", "json", recording).CombinedOutput(); err != nil || len(out) == 0 {
			t.Errorf("can't read the recording: %v\n%s", err, out)
		}
	})
	onlyReads(t, c.AuditLog())
	holdsNoSecret(t, recording, recorder.out, recorder.errs, watcher.out, watcher.errs)
	window.holdsNoSecret(t)
}

// checkRestart returns an error until every waiting pod has entered the queue again since a time. A new
// scheduler does not know earlier attempts, and adds all waiting pods.
func checkRestart(ctx context.Context, client kubernetes.Interface, moves []move, since time.Time) error {
	added := map[string]bool{}
	for _, m := range moves {
		if m.Event == "UnscheduledPodAdd" && m.Time.After(since) {
			added[m.Pod] = true
		}
	}
	_, pods, err := freshList(ctx, client)
	if err != nil {
		return err
	}
	for _, p := range pods.Items {
		if name := p.Namespace + "/" + p.Name; p.Spec.NodeName == "" && !added[name] {
			return fmt.Errorf("the model has not added %s again", name)
		}
	}
	return nil
}

// compact compacts etcd to the current revision.
func compact(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second, fmt.Errorf("etcd has not responded within 20 s"))
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

// lists returns how many times schedq has listed all pods.
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
