package story

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/page"
)

// TestCopiedCommandsAreQuoted: a pod's name can't inject a command.
func TestCopiedCommandsAreQuoted(t *testing.T) {
	for name, want := range map[string]string{
		"web-1": "web-1", "": "''", "a b": "'a b'", "$(reboot)": "'$(reboot)'", "it's": `'it'\''s'`, "a\nb": "'a␊b'", "a;b": "'a;b'",
	} {
		if got := shellWord(name); got != want {
			t.Errorf("%q becomes %s, want %s", name, got, want)
		}
	}
	d := &page.UI{Frame: session.New(&sources.Recording{}, timeline.Options{}).Frame()}
	d.Selected = page.Selection{Key: types.NamespacedName{Namespace: "-n", Name: "--all"}, Any: true}
	if all := Copyable(d); all[1].Text != "kubectl describe pod -n -n -- --all" {
		t.Errorf("the command is %s", all[1].Text)
	}
	if got := explainCommand(d); got != "" {
		t.Errorf("without a source the command is %s", got)
	}
	d.Arguments = func() []string { return []string{"--recording", "busy"} }
	if got := explainCommand(d); !strings.HasSuffix(got, " -- -n/--all") {
		t.Errorf("the command is %s", got)
	}
}
