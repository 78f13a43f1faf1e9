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

// ExplainPod replays rec up to at and explains the pod at that time.
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
	defer o.close()
	f := o.frame()
	p := f.Board.Get(key)
	if p == nil {
		for _, p := range o.recording.Unserved() {
			if p.Key == key {
				x := f.Unserved(p)
				x.Source, x.SchedulerEnded = f.Name, f.SchedulerEnded()
				return x, nil
			}
		}
		return nil, explain.UnknownPod(ctx, rec, o.recording.Engine.Objects.Pod(key), key, o.now, o.zone)
	}
	var needs *explain.Needs
	if p.Tier.Queued() || p.Tier == queue.InFlight {
		needs, err = o.findNeeds(p)
	}
	x := f.Explanation(p, needs)
	x.Source, x.SchedulerEnded = f.Name, f.SchedulerEnded()
	switch {
	case err != nil:
		x.Notes = append(x.Notes, fmt.Sprintf("What it needs is unknown: %s.", err))
	case needs != nil:
		x.Notes = append(x.Notes, "Needs are computed by kube-scheduler v1.37's own plugins from the objects at that time; "+
			"pods that are assumed but not yet bound are not counted.")
	}
	f.Hints = explain.NewHints(plugins)
	x.WokenBy = f.Wakes(p)
	return x, nil
}

// InspectPod replays rec up to at and runs a scheduling cycle of the pod: for a pod that is bound or in flight then, its attempt, and
// for one that waits an attempt at that time.
func InspectPod(ctx context.Context, rec *sources.Recording, opts timeline.Options, key types.NamespacedName, at time.Time, inspect InspectOptions) (*explain.Cycle, error) {
	o, err := replayedTo(ctx, rec, opts, at, key)
	if err != nil {
		return nil, err
	}
	defer func() { o.close() }()
	p := o.recording.Shown.Get(key)
	if p == nil && o.recording.Engine.Objects.Pod(key) == nil {
		return nil, explain.UnknownPod(ctx, rec, nil, key, o.now, o.zone)
	}
	if p != nil {
		if popped, bound := timeline.AttemptOf(p); popped != nil { // replay to the attempt: what was before is not kept
			again, err := replayedTo(ctx, rec, opts, popped.Time.Add(-time.Second), key)
			if err != nil {
				return nil, err
			}
			o.close()
			o = again
			until := popped.Time
			if bound != nil {
				until = bound.Time
			}
			if until = until.Add(time.Second); until.After(at) && !at.Before(popped.Time) {
				until = at
			}
			o.show(until)
		}
	}
	c, err := o.findCycle(key, inspect)
	if err != nil {
		return nil, err
	}
	c.Source = rec.Name
	return c, nil
}

// replayedTo returns an owner of rec at the time at; the caller must close it. Its history only explains the named pod and
// the pods present at that time. It returns an error if the model fails, or once ctx ends.
func replayedTo(ctx context.Context, rec *sources.Recording, opts timeline.Options, at time.Time, key types.NamespacedName) (*owner, error) {
	opts.Paused, opts.StartOffset = true, 0
	o := newOwner(rec, opts)
	t := o.recording
	t.PlayTo(ctx, at, opts, func(p *board.Pod) bool { return p.Key == key || t.LeftRecently(p) })
	if ctx.Err() == nil {
		o.show(at)
	}
	if err := cmp.Or(ctx.Err(), o.recording.Feed.Err); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}
