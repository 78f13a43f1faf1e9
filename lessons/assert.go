package lessons

import (
	"context"
	"slices"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/timeline"
)

// AllClaims returns all claims of the lesson, in file order.
func (l *Lesson) AllClaims() []Claim {
	all := slices.Clone(l.Claims)
	for i := range l.Steps {
		all = append(all, l.Steps[i].Claims...)
	}
	return all
}

// holdsUnder reports whether the claim should hold under a release, and whether it says anything
// about that release. own is the lesson's release.
func (c *Claim) holdsUnder(release, own string) (holds, claimed bool) {
	if c.Since == "" && c.UpTo == "" {
		return true, release == own
	}
	newest := queue.Releases()
	at := slices.Index(newest, release)
	return (c.Since == "" || at <= slices.Index(newest, c.Since)) && (c.UpTo == "" || at >= slices.Index(newest, c.UpTo)), true
}

// release returns the release whose rules the lesson uses.
func (l *Lesson) release() string {
	if l.Scenario.Release == "" {
		return queue.Releases()[0]
	}
	return l.Scenario.Release
}

// assert plays the lesson under each release that has claims. It fails if a claim does not hold, or
// holds under a release that the claim excludes.
func (l *Lesson) assert(ctx context.Context, opts timeline.Options) error {
	own := l.release()
	claims := l.AllClaims()
	for _, release := range queue.Releases() {
		var p *played
		for i := range claims {
			c := &claims[i]
			holds, claimed := c.holdsUnder(release, own)
			if !claimed || c.Pod.Name == "" && c.Move.text == "" && c.Event == "" {
				continue
			}
			if p == nil {
				var err error
				if p, err = l.play(ctx, opts, release); err != nil {
					return err
				}
			}
			switch is := p.check(c); {
			case holds && is != "":
				return l.errorf(c.Line, "%q does not hold under %s: %s", c.Of, release, is)
			case !holds && is == "":
				return l.errorf(c.Line, "%q also holds under %s", c.Of, release)
			}
		}
	}
	return nil
}

// play plays the whole scenario under a release.
func (l *Lesson) play(ctx context.Context, opts timeline.Options, release string) (*played, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, playTimeout, errTooLong)
	defer cancel()
	read, err := l.recording(ctx)
	if err != nil {
		return nil, err
	}
	rec := *read
	if rec.Release = release; release != l.release() { // on a recording, a local scheduler decides instead
		rec.Rerun = true
	}
	s := l.open(&rec, opts)
	go s.Run(ctx)
	w := &walk{Lesson: l, ctx: ctx, session: s}
	s.Seek(l.Scenario.Start.Add(l.Scenario.End))
	f, _, err := w.sync()
	if err != nil {
		return nil, err
	}
	p := &played{start: l.Scenario.Start}
	for i := range f.Log.Len() {
		p.moves = append(p.moves, f.Log.At(i))
	}
	return p, nil
}
