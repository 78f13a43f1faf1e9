package session

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/sources"
)

// ExplainPod replays rec up to at, and explains the pod there.
func ExplainPod(ctx context.Context, rec *sources.Recording, opts timeline.Options, key types.NamespacedName, at time.Time) (*explain.Explanation, error) {
	cfg, err := opts.SchedulerConfig(rec)
	if err != nil {
		return nil, err
	}
	plugins, err := cycle.PluginsOf(cfg)
	if err != nil {
		return nil, err
	}
	o, err := replayedTo(ctx, rec, opts, at, key)
	if err != nil {
		return nil, err
	}
	defer o.recording.Feed.Close()
	f := o.frame()
	p := f.Board.Get(key)
	if p == nil {
		return nil, explain.Unknown(ctx, rec, o.recording.Engine.Objects.Pod(key), key, o.now, o.zone)
	}
	x := f.Explanation(p)
	x.Source = f.Name
	if p.Tier.Queued() || p.Tier == queue.InFlight {
		o.explainNeeds(p, x)
	}
	f.Hints = explain.NewHints(plugins)
	x.WokenBy = f.Wakes(p)
	return x, nil
}

// replayedTo returns an owner that nobody else has, of rec at the moment at, whose feed is to be closed. It has forgotten what
// was long before, but for what the pods tell of themselves that are there then, and the named one. It fails if the model
// does, or when ctx ends.
func replayedTo(ctx context.Context, rec *sources.Recording, opts timeline.Options, at time.Time, key types.NamespacedName) (*owner, error) {
	opts.Paused, opts.Opens = true, 0
	o := newOwner(rec, opts)
	t := o.recording
	t.PlayTo(ctx, at, opts, func(p *board.Pod) bool { return p.Key == key || t.LeftLately(p) })
	if ctx.Err() == nil {
		o.show(at)
	}
	if err := cmp.Or(ctx.Err(), o.recording.Feed.Err); err != nil {
		o.recording.Feed.Close()
		return nil, err
	}
	return o, nil
}

// explainNeeds adds what p would need to x, or why that is not known.
func (o *owner) explainNeeds(p *board.Pod, x *explain.Explanation) {
	n, err := o.findNeeds(p)
	if err != nil {
		x.Notes = append(x.Notes, fmt.Sprintf("What it needs is not known: %s.", err))
		return
	}
	x.Needs = n
	x.Notes = append(x.Notes, "What it needs is worked out by kube-scheduler v1.37's own plugins over the objects of that moment; "+
		"pods that are assumed, but not bound yet, take no room.")
}
