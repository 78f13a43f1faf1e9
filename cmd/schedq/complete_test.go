package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCompleteKubeconfig: shells complete what the kubeconfig names, and nothing where it can't be read.
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
