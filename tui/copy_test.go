package tui

import (
	"encoding/base64"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
)

func TestCopy(t *testing.T) {
	for item, want := range map[string]string{
		"name":        "default/train-0",
		"row":         "default/train-0  unschedulable  1 attempt  rejected by NodeAffinity, NodeResourcesFit  5:23 left until 10:41:30",
		"describe":    "kubectl describe pod -n default -- train-0",
		"yaml":        "kubectl get -o yaml pod -n default -- train-0",
		"get events":  "kubectl get events -n default --field-selector involvedObject.name=train-0",
		"explanation": "Rejected by NodeAffinity, NodeResourcesFit at 10:36:02.2.",
		"moves":       "10:36:02.100  active        → in-flight",
	} {
		t.Run(item, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := sit(t, 120, 40, paused(t, sample), Options{})
				p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown, keymap.CopyMore).enter(item).sees("copied the ")
				_, sequence, _ := strings.Cut(p.written.String(), "\x1b]52;c;")
				encoded, _, _ := strings.Cut(sequence, "\a")
				copied, err := base64.StdEncoding.DecodeString(encoded)
				if err != nil || !strings.Contains(string(copied), want) {
					t.Errorf("OSC 52 copies %q (%v), want %q", copied, err, want)
				}
			})
		})
	}
}
