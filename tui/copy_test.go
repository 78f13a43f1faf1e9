package tui

import (
	"encoding/base64"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
)

// copied returns the first text that was written to the clipboard (OSC 52).
func (p *person) copied() string {
	_, sequence, _ := strings.Cut(p.written.String(), "\x1b]52;c;")
	encoded, _, _ := strings.Cut(sequence, "\a")
	copied, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		p.t.Error(err)
	}
	return string(copied)
}

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
				if copied := p.copied(); !strings.Contains(copied, want) {
					t.Errorf("it copies %q, want %q", copied, want)
				}
			})
		})
	}
}

// TestCopyingTheCommand: the copied command names the pod, the view and the moment, and pages
// without a matching command offer none.
func TestCopyingTheCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := Options{Source: "sample", Arguments: func(source string) []string {
			if source != "sample" {
				t.Errorf("the source is %q", source)
			}
			return []string{"/logs/audit log.gz", "/logs/sched.log"}
		}}
		p := sit(t, 120, 40, paused(t, sample), files)
		p.do(keymap.CopyCommand).sees("can't: no pod is selected")
		p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown, keymap.CopyCommand)
		const want = "schedq explain default/train-0 '/logs/audit log.gz' /logs/sched.log --at 2026-03-01T10:36:06.5Z"
		if got := p.copied(); got != want {
			t.Errorf("it copies %q, want %q", got, want)
		}
		p.sees("copied the command: schedq explain").do(keymap.CopyMore).sees("schedq explain default/train-0").press("esc")
		p.do(keymap.WhatIf, keymap.CopyCommand).sees("can't: no command shows a what-if").do(keymap.CopyMore).seesNot("schedq explain")
	})
	synctest.Test(t, func(t *testing.T) {
		p := sit(t, 120, 40, paused(t, sample), Options{})
		p.goTo(moment).do(keymap.FocusUnsched, keymap.RowDown, keymap.CopyCommand).sees("can't: no command can read what is shown")
	})
}
