package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedq/schedq/sources/live/livetest"
)

// TestCompleteKubeconfig: shells complete names from the kubeconfig, and nothing if it can't be
// read.
func TestCompleteKubeconfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	text := `{apiVersion: v1, kind: Config, contexts: [{name: prod, context: {}}, {name: dev, context: {}}],
  clusters: [{name: eu, cluster: {}}], users: [{name: me, user: {}}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kubeconfig, flag, want string }{
		{path, "--context", "dev\nprod\n:4\n"},
		{path, "--cluster", "eu\n:4\n"},
		{path, "--user", "me\n:4\n"},
		{path + "-none", "--context", ":4\n"},
		{"/dev/zero", "--context", ":4\n"},
	} {
		for _, command := range []string{"attach", "list", "doctor"} {
			if code, stdout, _ := schedq(t, "", "__complete", command, "--kubeconfig", c.kubeconfig, c.flag, ""); code != 0 || stdout != c.want {
				t.Errorf("%s %s %s: exit %d, %q, want %q", command, c.kubeconfig, c.flag, code, stdout, c.want)
			}
		}
	}
}

// TestCompleteCluster: shells complete namespaces, and the pods without a node.
func TestCompleteCluster(t *testing.T) {
	server := livetest.New(t)
	pod := func(namespace, name, node string) *corev1.Pod {
		pod := pendingPod(name, "1")
		pod.Namespace, pod.Spec.NodeName = namespace, node
		return pod
	}
	for _, name := range []string{"shop", "bank"} {
		server.Put(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	server.Put(pod("shop", "store-0", ""), pod("shop", "store-1", "node-a"), pod("shop", "both", ""), pod("bank", "both", ""), pod("bank", "vault", ""), pod("bank", "bad\x1bname", ""))
	kubeconfig := server.Kubeconfig(t)
	for line, want := range map[string]string{
		"watch -n ":                          "bank\nshop\n:4\n",
		"explain -n ":                        "bank\nshop\n:4\n",
		"doctor --namespace s":               "shop\n:4\n",
		"explain ":                           "bank/both\nvault\tin bank\nshop/both\nstore-0\tin shop\n:4\n",
		"explain -n bank ":                   "both\tin bank\nvault\tin bank\n:4\n",
		"explain shop/":                      "shop/both\nshop/store-0\n:4\n",
		"explain ../":                        ":4\n",
		"explain store-0 ":                   ":0\n", // files
		"explain pod/store":                  "pod/store-0\tin shop\n:4\n",
		"wait shop/s":                        "shop/store-0\n:4\n",
		"explain --recording workshop store": "store-0\tin default\n:4\n",
		"explain --context none ":            ":4\n",
	} {
		if code, stdout := completed(t, kubeconfig, line); code != 0 || stdout != want {
			t.Errorf("after %q: exit %d, %q, want %q", line, code, stdout, want)
		}
	}
	server.Refuse("pods", http.StatusForbidden)
	if code, stdout, stderr := schedq(t, "", "__completeNoDesc", "explain", "--kubeconfig", kubeconfig, ""); code != 0 || stdout != ":4\n" || strings.Contains(stderr, "schedq:") {
		t.Errorf("forbidden: exit %d, %q, %q", code, stdout, stderr)
	}
	server.Refuse("pods", 0)
	for i := range 600 {
		server.Put(pod("shop", fmt.Sprintf("many-%03d", i), ""))
	}
	if _, stdout := completed(t, kubeconfig, "explain many"); strings.Count(stdout, "many-") > 500 || strings.Count(stdout, "many-") < 400 {
		t.Errorf("%d of 600 pods are offered", strings.Count(stdout, "many-"))
	}
	for _, request := range server.Requests() {
		if !strings.HasPrefix(request, "GET ") {
			t.Errorf("completion sends %s", request)
		}
	}
}

// completed returns the completions after line. It retries, because the timeout is short for a busy
// machine.
func completed(t *testing.T, kubeconfig, line string) (code int, stdout string) {
	words := strings.Split(line, " ")
	args := append([]string{"__complete", words[0], "--kubeconfig", kubeconfig}, words[1:]...)
	for range 20 {
		if code, stdout, _ = schedq(t, "", args...); code != 0 || stdout != ":4\n" {
			break
		}
	}
	return code, stdout
}

// TestCompleteTimeout: completion does not wait for a cluster or credential plugin that does not
// answer.
func TestCompleteTimeout(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	kubeconfig := func(user string) string {
		path := filepath.Join(t.TempDir(), "config")
		text := "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],\n" +
			"clusters: [{name: c, cluster: {server: 'http://" + silent.Addr().String() + "'}}], users: [{name: u, user: {" + user + "}}]}"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, user := range []string{
		"token: t",
		"exec: {apiVersion: client.authentication.k8s.io/v1, command: sleep, args: ['60'], interactiveMode: IfAvailable}",
		"exec: {apiVersion: client.authentication.k8s.io/v1, command: sleep, args: ['60'], interactiveMode: Always}",
	} {
		path, begun := kubeconfig(user), time.Now()
		code, stdout, stderr := schedq(t, "", "__complete", "explain", "--kubeconfig", path, "")
		if code != 0 || stdout != ":4\n" || strings.Contains(stderr, "schedq:") {
			t.Errorf("%s: exit %d, %q, %q", user, code, stdout, stderr)
		}
		if took := time.Since(begun); took > 10*time.Second { // 0.2 s on an idle machine
			t.Errorf("%s: took %v", user, took)
		}
	}
}

// TestCompletion: shells complete commands, recordings, themes and filter fields.
func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"wat":                     "watch",
		"watch --recording ":      "workshop",
		"replay --theme ":         "colour-blind",
		"watch --filter att":      "attempts>",
		"watch --filter ns:a_!pl": "ns:a !plugin:",
		"watch --output ":         "json",

		"learn thr":                                 "three-places\tPending is three places",
		"rerun --release ":                          "v1.31",
		"explain --recording workshop batch":        "batch-1\tin default\nbatch-2\tin default",
		"wait --recording workshop pod/default/bat": "pod/default/batch-1",
		"explain " + workshop + " batch":            "batch-1\tin default",
		"wait batch-1 --for tr":                     "tried",
		"wait batch-1 --for wai":                    "waiting>",
	} {
		line := strings.Split(args, " ")
		for i, word := range line {
			line[i] = strings.ReplaceAll(word, "_", " ")
		}
		if _, out, _ := schedq(t, "", append([]string{"__complete"}, line...)...); !strings.Contains(out, want) {
			t.Errorf("after %q: no %q in %q", args, want, out)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, out, _ := schedq(t, "", "completion", shell); code != 0 || !strings.Contains(out, "schedq") {
			t.Errorf("%s: exit %d", shell, code)
		}
	}
}
