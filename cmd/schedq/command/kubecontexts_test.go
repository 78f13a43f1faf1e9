package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/sources/live/livetest"
)

// TestContexts: the screen can attach to each context of the kubeconfig, with its own cluster and
// user, whatever the flags say. A missing context and a plugin that needs the terminal are errors.
func TestContexts(t *testing.T) {
	server := livetest.New(t)
	path := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: gone, contexts: [
  {name: gone, context: {cluster: gone, user: me}}, {name: there, context: {cluster: there, user: me}}, {name: asks, context: {cluster: secure, user: asks}}],
  clusters: [{name: gone, cluster: {server: "http://127.0.0.1:1"}}, {name: there, cluster: {server: %q}}, {name: secure, cluster: {server: "https://127.0.0.1:1"}}],
  users: [{name: me, user: {}}, {name: asks, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "true", interactiveMode: Always}}}]}`, server.URL)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f := defaultKubeFlags()
	f.cluster.rules.ExplicitPath = path
	f.cluster.overrides.ClusterInfo.Server = "http://127.0.0.1:1"
	if names, err := f.Contexts(); err != nil || !slices.Equal(names, []string{"asks", "gone", "there"}) {
		t.Errorf("%v, %v", names, err)
	}
	stream, err := f.OpenContext(t.Context(), &cobra.Command{}, "there")
	if err != nil {
		t.Fatal(err)
	}
	if stream.Name() != "there" {
		t.Errorf("name %s", stream.Name())
	}
	for context, want := range map[string]string{"gone": "127.0.0.1:1", "nowhere": "no context nowhere in the kubeconfig", "asks": "true wants to ask at a terminal"} {
		if _, err := f.OpenContext(t.Context(), &cobra.Command{}, context); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", context, err)
		}
	}
}
