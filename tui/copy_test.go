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
				var native string
				p := sit(t, 120, 40, paused(t, sample), Options{Clipboard: func(text string) error { native = text; return nil }})
				p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown, keymap.CopyMore).enter(item).sees("copied the ")
				if !strings.Contains(native, want) {
					t.Errorf("the machine's clipboard has %q, want %q", native, want)
				}
				if !strings.Contains(p.written.String(), "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(native))) {
					t.Error("the terminal was not asked by OSC 52")
				}
			})
		})
	}
}
