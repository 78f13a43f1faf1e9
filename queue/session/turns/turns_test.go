package turns_test

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"

	"github.com/schedq/schedq/queue/session/channels"
	"github.com/schedq/schedq/queue/session/evidence"
	"github.com/schedq/schedq/queue/session/turns"
	"github.com/schedq/schedq/queue/session/world"
	"github.com/schedq/schedq/sources"
)

// crowded returns what is known of requests that wait from 10 s on: two pods are being bound, and of each of those that are named it is told that
// it is bound, at 10.3 s and 10.1 s.
func crowded(t *testing.T, bound ...string) *turns.Turns {
	pods := []*v1.Pod{world.PendingPod("first", "1"), world.PendingPod("second", "1")}
	var w world.Cluster
	for i, at := range []float64{10.3, 10.1} {
		if slices.Contains(bound, pods[i].Name) {
			w.Bound(at, pods[i], "node")
		}
	}
	slices.SortFunc(w.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
	c := channels.New(world.Config(t), true)
	for range c.Config.ClientBurst {
		c.Requested(world.At(10))
	}
	future := evidence.New(evidence.Of(w.Events), time.Minute, time.Millisecond, rate.NewLimiter(rate.Inf, 0))
	return &turns.Turns{Future: future, Channels: c, Binding: slices.Values(pods), Patience: time.Minute}
}

// TestNext: a request is sent behind those that took their turn, and behind the last binding under way that is told.
func TestNext(t *testing.T) {
	volume := func(t *turns.Turns) {
		for pod := range t.Binding {
			pod.Spec.ResourceClaims = make([]v1.PodResourceClaim, 1)
		}
	}
	for _, c := range []struct {
		name  string
		turns *turns.Turns
		set   func(*turns.Turns)
		want  float64
	}{
		{"nothing is told", crowded(t), nil, 10.02},
		{"one took its turn", crowded(t), func(t *turns.Turns) { t.Take(world.At(10)) }, 10.04},
		{"one is bound", crowded(t, "second"), nil, 10.12},
		{"both are bound", crowded(t, "first", "second"), nil, 10.32},
		{"one took its turn behind them", crowded(t, "first", "second"), func(t *turns.Turns) { t.Take(world.At(10)) }, 10.34},
		{"they wait for devices, too", crowded(t, "first", "second"), volume, 10.02},
		{"it is not told as early", crowded(t, "first"), func(t *turns.Turns) { t.Patience = 200 * time.Millisecond }, 10.02},
		{"a log tells of the loop", crowded(t), func(t *turns.Turns) { t.Channels.Verbosity = sources.AttemptsVerbosity }, 10},
		{"a log told of one before", crowded(t), func(t *turns.Turns) {
			t.Channels.Verbosity = sources.AttemptsVerbosity
			t.Take(world.At(10))
			t.Channels.Verbosity = 0
		}, 10.02},
	} {
		if c.set != nil {
			c.set(c.turns)
		}
		if got := c.turns.Next(world.At(10)); !got.Equal(world.At(c.want)) {
			t.Errorf("%s: it is sent %v after the others, want %v", c.name, got.Sub(world.At(10)), world.At(c.want).Sub(world.At(10)))
		}
	}
}
