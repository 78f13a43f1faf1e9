package command

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/schedq/schedq/queue/session/filter"
)

// TestK9sPlugin: schedq accepts the flags and the filter of deploy/k9s-plugin.yaml.
func TestK9sPlugin(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/k9s-plugin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Plugins map[string]struct {
			Command string
			Scopes  []string
			Args    []string
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	plugin := file.Plugins["schedq"]
	attach := NewAttach()
	if plugin.Command != "schedq" || len(plugin.Args) == 0 || plugin.Args[0] != attach.Name() {
		t.Fatalf("the plugin runs %s %q", plugin.Command, plugin.Args)
	}
	args := strings.NewReplacer("$CONTEXT", "prod", "$NAMESPACE", "shop", "$NAME", "web-1").Replace(strings.Join(plugin.Args[1:], "\n"))
	if err := attach.ParseFlags(strings.Split(args, "\n")); err != nil {
		t.Fatal(err)
	}
	if f := attach.Flags().Lookup("filter"); f == nil || f.Value.String() != "ns:shop web-1" {
		t.Errorf("the filter is %v", f)
	}
	if _, err := filter.Parse("ns:shop web-1"); err != nil {
		t.Error(err)
	}
}
