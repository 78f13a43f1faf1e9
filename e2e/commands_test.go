package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/e2e/controlplane"
)

// TestNoWayIn expects one clear sentence, and exit 1, where a person's way into the cluster is barred.
func TestNoWayIn(t *testing.T) {
	c := startControlPlane(t, controlplane.Options{Bare: true})
	kubeconfig := func(user, address string) string {
		t.Helper()
		path, err := c.Kubeconfig(user, address)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	edited := func(old, new string) string {
		t.Helper()
		text, err := os.ReadFile(kubeconfig(controlplane.Admin, ""))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), old) {
			t.Fatalf("the kubeconfig holds no %q:\n%s", old, text)
		}
		path := filepath.Join(t.TempDir(), "kubeconfig")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, new)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	nobody := startProxy(t, c.APIAddress(), 0)
	nobody.listener.Close() // a port at which nobody listens

	for name, test := range map[string]struct {
		flags []string
		says  []string // of these words, in its sentence
	}{
		"no such file":           {[]string{"--kubeconfig", "no-such-kubeconfig"}, []string{"no-such-kubeconfig"}},
		"no such context":        {[]string{"--kubeconfig", kubeconfig(controlplane.Admin, ""), "--context", "elsewhere"}, []string{"elsewhere"}},
		"unreachable":            {[]string{"--kubeconfig", kubeconfig(controlplane.Admin, nobody.address())}, []string{nobody.address()}},
		"no rights":              {[]string{"--kubeconfig", kubeconfig(controlplane.StrangerUser, "")}, []string{"stranger", "pods"}},
		"unknown token":          {[]string{"--kubeconfig", edited("admin-token", "stolen-token")}, []string{"401"}},
		"exec plugin that fails": {[]string{"--kubeconfig", edited("token: admin-token", "exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: \"false\"\n      interactiveMode: Never")}, []string{"exec", "false"}},
		"unverified certificate": {[]string{"--kubeconfig", edited("certificate-authority:", "tls-server-name: elsewhere.example\n    certificate-authority:")}, []string{"certificate"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range [][]string{{"watch"}, {"record", "-o", filepath.Join(t.TempDir(), "x.jsonl")}} {
				noWay(t, append(command, test.flags...), test.says)
			}
		})
	}
	t.Run("full disk", func(t *testing.T) {
		if _, err := os.Stat("/dev/full"); err != nil {
			t.Skip("there is no disk that is always full")
		}
		noWay(t, []string{"record", "-o", "/dev/full", "--kubeconfig", kubeconfig(controlplane.Admin, "")}, []string{"/dev/full", "no space left on device"})
	})
}

// noWay expects that schedq with args ends with one sentence that has all these words.
func noWay(t *testing.T, args, says []string) {
	t.Helper()
	cmd := exec.Command(schedq, args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "KUBECONFIG=")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("schedq %s exits with %d, want 1:\n%s", args[0], code, out)
	}
	said := strings.TrimSpace(string(out))
	if strings.Count(said, "\n") > 0 || !strings.HasPrefix(said, "schedq: ") {
		t.Errorf("schedq %s says more or less than a sentence:\n%s", args[0], said)
	}
	for _, word := range says {
		if !strings.Contains(said, word) {
			t.Errorf("schedq %s does not say %q: %s", args[0], word, said)
		}
	}
}
