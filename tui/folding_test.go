package tui

import (
	"testing"
	"testing/synctest"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/timeline"
)

// gangs has a pod group of three pods, and a pod without a group.
const gangs = `
1.0  pod train-0 0 group=train
1.0  pod train-1 0 group=train
1.0  pod train-2 0 group=train
1.0  pod web 0
1.1  train-0 active UnscheduledPodAdd
1.1  train-1 active UnscheduledPodAdd
1.1  train-2 active UnscheduledPodAdd
1.2  web active UnscheduledPodAdd
9.0  mark the end
`

// TestUnfoldAPodGroup: a pod group is one row, and unfolded one row per pod.
func TestUnfoldAPodGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := queue.Defaults()
		opts.GenericWorkload = true
		s := session.New(tell(t, gangs), timeline.Options{Paused: true, Queue: &opts})
		p := sit(t, 120, 40, s, Options{})
		p.goTo("+2s").sees("activeQ 4 ").seesTogether("● ⊞ train ×3", "1.0s").seesTogether("● web", "0.9s").seesNot("● ⊟ train-0").seesNot("●   train-1").seesNot("match")
		p.do(keymap.FocusActive, keymap.RowDown, keymap.Fold).seesTogether("▸● ⊟ train-0", "1.0s").sees("●   train-1", "●   train-2")
		p.seesNot("⊞")
		p.do(keymap.RowDown).sees("▸●   train-1").do(keymap.Fold).sees("▸● ⊞ train ×3").seesNot("⊟").seesNot("●   train-1")
		p.do(keymap.Filter).enter("!train-1").sees("⊞ train ×2", "activeQ 4, 2 match")
		p.do(keymap.Back, keymap.LastRow, keymap.Fold).sees("this pod is not in a pod group")
	})
}
