package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedq/schedq/e2e/controlplane"
)

// TestAccessErrors expects one clear sentence and exit code 1 when schedq can't access the cluster.
func TestAccessErrors(t *testing.T) {
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
			t.Fatalf("the kubeconfig does not contain %q:\n%s", old, text)
		}
		path := filepath.Join(t.TempDir(), "kubeconfig")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, new)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	closed := startProxy(t, c.APIAddress(), 0)
	closed.listener.Close()

	for name, test := range map[string]struct {
		flags []string
		words []string // in the message
	}{
		"no such file":           {[]string{"--kubeconfig", "no-such-kubeconfig"}, []string{"no-such-kubeconfig"}},
		"no such context":        {[]string{"--kubeconfig", kubeconfig(controlplane.Admin, ""), "--context", "elsewhere"}, []string{"elsewhere"}},
		"unreachable":            {[]string{"--kubeconfig", kubeconfig(controlplane.Admin, closed.address())}, []string{closed.address()}},
		"no rights":              {[]string{"--kubeconfig", kubeconfig(controlplane.StrangerUser, "")}, []string{"stranger", "pods"}},
		"unknown token":          {[]string{"--kubeconfig", edited("admin-token", "stolen-token")}, []string{"401"}},
		"exec plugin that fails": {[]string{"--kubeconfig", edited("token: admin-token", "exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: \"false\"\n      interactiveMode: Never")}, []string{"exec", "false"}},
		"unverified certificate": {[]string{"--kubeconfig", edited("certificate-authority:", "tls-server-name: elsewhere.example\n    certificate-authority:")}, []string{"certificate"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range [][]string{{"watch"}, {"record", "-o", filepath.Join(t.TempDir(), "x.jsonl")}} {
				expectError(t, append(command, test.flags...), test.words)
			}
		})
	}
	t.Run("full disk", func(t *testing.T) {
		if _, err := os.Stat("/dev/full"); err != nil {
			t.Skip("no /dev/full on this system")
		}
		expectError(t, []string{"record", "-o", "/dev/full", "--kubeconfig", kubeconfig(controlplane.Admin, "")}, []string{"/dev/full", "no space left on device"})
	})
}

// expectError expects schedq to fail with one sentence that contains all words.
func expectError(t *testing.T, args, words []string) {
	t.Helper()
	cmd := exec.Command(schedq, args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "KUBECONFIG=")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("schedq %s exits with %d, want 1:\n%s", args[0], code, out)
	}
	message := strings.TrimSpace(string(out))
	if strings.Count(message, "\n") > 0 || !strings.HasPrefix(message, "schedq: ") {
		t.Errorf("schedq %s: the message is not one line:\n%s", args[0], message)
	}
	for _, word := range words {
		if !strings.Contains(message, word) {
			t.Errorf("schedq %s: the message does not contain %q: %s", args[0], word, message)
		}
	}
}
