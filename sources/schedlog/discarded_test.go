package schedlog

import (
	"testing"

	"github.com/schedq/schedq/sources"
)

// TestDiscarded: every release's line about a pod that it drops from its queue is read, and nothing else is taken for one.
func TestDiscarded(t *testing.T) {
	const at, unhandled = `E1121 10:00:02.500000       1 active_queue.go:1] `, ` logger="UnhandledError"`
	for _, c := range []struct {
		name, line string
		want       string // the pod that is discarded
	}{
		{"v1.32 and v1.33", `"the same pod is tracked in multiple places in the scheduler, and just discard it" pod="default/web"`, "default/web"},
		{"v1.34 and v1.35", `"The same pod is tracked in multiple places in the scheduler, and just discard it"` + unhandled + ` pod="default/web"`, "default/web"},
		{"v1.36", `"Discarding the popped pod" err="the same pod is tracked in multiple places in the scheduler: default/web"` + unhandled, "default/web"},
		{"v1.37", `"Discarding the popped entity" err="the same pod is tracked in multiple places in the scheduler: default/web"` + unhandled + ` type="pod" entity="default/web"`, "default/web"},
		{"v1.37, a member of a group", `"Discarding the popped pod group member. It's tracked in multiple places in the scheduler" pod="default/web" podGroup="default/train"`, "default/web"},
		{"v1.37, the rest of the group", `"Discarding the popped entity" err="all pods from the pod group are tracked in multiple places in the scheduler: default/train"` + unhandled + ` type="podgroup" entity="default/train"`, ""},
		{"an unknown reason", `"Discarding the popped entity" err="unexpected entity type: *x"` + unhandled + ` type="x" entity="default/web"`, ""},
		{"a name that is none", `"Discarding the popped pod" err="the same pod is tracked in multiple places in the scheduler: a\x1b[2J"`, ""},
		{"it is quoted by another", `"Note" text="Discarding the popped pod" pod="default/web"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			failed := `E1121 10:00:01.000000       1 schedule_one.go:1198] "Error scheduling pod; retrying" err="no" pod="default/other"` + "\n"
			part, err := read(t, failed+at+c.line+"\n", nov)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, ev := range part.Events {
				if f, is := ev.Fact.(*sources.Discarded); is {
					got += f.Pod.String()
				}
			}
			if got != c.want {
				t.Errorf("discarded %q, want %q", got, c.want)
			}
		})
	}
}
