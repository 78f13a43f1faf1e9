package session_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/embedded"
)

// TestProgress: every replay without a screen reports its progress, up to the end.
func TestProgress(t *testing.T) {
	rec, err := embedded.Open(t.Context(), "lively-nopop")
	if err != nil {
		t.Fatal(err)
	}
	for name, play := range map[string]func(ctx context.Context, opts timeline.Options) error{
		"watch": func(ctx context.Context, opts timeline.Options) error {
			return timeline.Replay(ctx, rec, opts, func(*board.Transition) error { return nil })
		},
		"report": func(ctx context.Context, opts timeline.Options) error {
			_, err := report.Summarize(ctx, rec, opts)
			return err
		},
		"list": func(ctx context.Context, opts timeline.Options) error {
			_, err := session.ListPods(ctx, rec, opts, rec.End)
			return err
		},
		"explain": func(ctx context.Context, opts timeline.Options) error {
			_, err := session.ExplainPod(ctx, rec, opts, podOf(rec), rec.End)
			return err
		},
		"rerun": func(ctx context.Context, opts timeline.Options) error {
			_, err := report.Compare(ctx, rec, opts, opts)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var shares []float64
			opts := timeline.Options{Progress: func(share float64) { shares = append(shares, share) }}
			if err := play(t.Context(), opts); err != nil {
				t.Logf("%v", err) // a pod that has gone
			}
			if len(shares) < 3 {
				t.Fatalf("reported %v", shares)
			}
			for i, s := range shares {
				if s < 0 || s > 1 || i > 0 && s < shares[i-1] {
					t.Fatalf("reported %v", shares)
				}
			}
			if last := shares[len(shares)-1]; last < 0.8 {
				t.Errorf("the last share is %.2f", last)
			}
		})
	}
}

// podOf returns a pod of rec.
func podOf(rec *sources.Recording) types.NamespacedName {
	for _, ev := range rec.Events {
		if m, ok := ev.Fact.(*sources.Move); ok {
			return m.Pod
		}
	}
	return types.NamespacedName{}
}
