package tui

import (
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
)

// TestManifest: a pod's object is shown as YAML in its last known state, and a missing object is
// reported.
func TestManifest(t *testing.T) {
	inTree(t)
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, session.New(withTenants(t), timeline.Options{Paused: true}), Options{})
		p.do(keymap.Manifest).sees("can't: no pod is selected")
		p.goTo("10:36:02.5").do(keymap.GoToPod).enter("train-0").do(keymap.Manifest)
		p.sees("default/train-0", "# Last known state.", "kind: Pod", "name: train-0").seesNot("annotations:")
		p.do(keymap.LastRow).sees("status:")
		p.do(keymap.Back).sees("1 activeQ")
	})
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 80, 24, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown, keymap.Manifest)
		p.sees("# The source mentions default/train-0 but does not contain its object.")
	})
}
