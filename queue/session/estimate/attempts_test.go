package estimate_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/estimate"
	"github.com/schedq/schedq/sources"
)

// TestAttempts: attempts that are told late are counted once, behind those that were known.
func TestAttempts(t *testing.T) {
	at := func(seconds int) time.Time { return time.Date(2026, 1, 2, 12, 0, seconds, 0, time.UTC) }
	var a estimate.Attempts
	fails := func(seconds int, uid types.UID, message sources.SafeText, count int) {
		a.Failed(sources.Event{Time: at(seconds), Fact: &sources.FailedAttempt{UID: uid, Message: message, Recorded: sources.NewRecorded("7", count)}})
	}
	fails(3, "web", "known", 1)
	fails(5, "web", "told late", 2)
	fails(6, "db", "its first", 1)
	fails(8, "db", "of its log", 0)
	known := &sources.Tried{UID: "web", Attempts: 4, First: at(1), Failed: at(3), Message: "known", Recorded: sources.NewRecorded("7", 1)}
	a.Tried(known)
	a.Tried(&sources.Tried{UID: "api", Attempts: 2, Failed: at(2)})
	tried, last := a.ByPod()
	for uid, want := range map[types.UID]sources.Tried{
		"web": {UID: "web", Attempts: 5, First: at(1), Failed: at(5), Message: "told late", Recorded: sources.NewRecorded("7", 2)},
		"db":  {UID: "db", Attempts: 2, First: at(6), Failed: at(8), Message: "of its log", Recorded: sources.NewRecorded("7", 1)},
		"api": {UID: "api", Attempts: 2, Failed: at(2)},
	} {
		if got := tried[uid]; got == nil || *got != want {
			t.Errorf("of %s is known %+v, want %+v", uid, got, want)
		}
		if isLast := uid == "web"; last[uid] != isLast {
			t.Errorf("that the last attempt of %s made the Event that is known is %t", uid, last[uid])
		}
	}
	if known.Attempts != 4 {
		t.Error("what a source told has changed")
	}
}
