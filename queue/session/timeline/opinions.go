package timeline

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/shadow"
	"github.com/schedq/schedq/sources"
)

// opinions is the second opinion on the pods of an engine. It sees each event before the engine applies it, and makes events of the
// verdicts, which are then applied like any other: playing them again gives the same. The nil opinions have no opinion.
type opinions struct {
	watch   *opinion.Watch
	feed    *shadow.Feed
	spare   Spare     // for recordings without a model
	next    time.Time // when pods are judged next
	asked   time.Time // up to when the time is used in which the local scheduler may be asked
	aligned time.Time // of when the spare scheduler has the objects
	// none are the pods that no scheduler works on, and noneSince is when that was found.
	none      []*board.Pod
	noneSince map[types.UID]time.Time
	// bound is the verdict on the pod that the present event binds.
	bound *opinion.Given
}

// judgeEvery is how often all waiting pods are judged, and judgeManyEvery how often many are: looking at a pod takes about a microsecond.
const (
	judgeEvery     = 10 * time.Second
	judgeManyEvery = 30 * time.Second
	manyPods       = 20_000
	// askTime is how much time must pass for each node, before the local scheduler is asked about another pod, and askSpareTime the same
	// for each object of one that has to be brought to the present first. Both are about a hundred times what that takes.
	askTime      = 2 * time.Millisecond
	askSpareTime = time.Millisecond
	// longestSaved is how much time that passed without a question may be used for questions at once.
	longestSaved = time.Minute
)

// newOpinions returns the second opinion on the pods that feed tells of.
func newOpinions(cfg *schedulerconfig.Config, feed *shadow.Feed) *opinions {
	return &opinions{watch: opinion.NewWatch(cfg), feed: feed}
}

func (o *opinions) close() {
	if o != nil {
		o.spare.Close()
	}
}

// observe records an event that e applies next.
func (o *opinions) observe(e *Engine, ev sources.Event) {
	if o == nil {
		return
	}
	o.bound = nil
	o.watch.Pass(ev.Time)
	if c, is := ev.Fact.(*sources.ObjectChange); is && c.Verb == sources.Updated {
		if pod, is := c.Object.(*v1.Pod); is && pod.Spec.NodeName != "" {
			o.judgeBinding(e, pod)
		}
	}
	o.watch.SetOptions(e.Queue.Options())
	o.watch.Observe(ev, e.Objects)
}

// judgeBinding judges a pod that is bound now.
func (o *opinions) judgeBinding(e *Engine, pod *v1.Pod) {
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	before, p := e.Objects.Pod(key), e.Board.Get(key)
	if before == nil || before.UID != pod.UID || before.Spec.NodeName != "" || p == nil {
		return
	}
	judged := opinionPod(p)
	judged.Object = before
	if v := o.watch.Binding(judged, pod.Spec.NodeName); v != nil {
		o.bound = &opinion.Given{Pod: key, UID: pod.UID, Verdict: v}
	}
}

// judge returns the verdicts that changed, as events of now. e has applied all before.
func (o *opinions) judge(e *Engine, now time.Time) (given []sources.Event) {
	if o == nil {
		return nil
	}
	if o.bound != nil {
		given = append(given, sources.Event{Time: now, Fact: o.bound})
		o.bound = nil
	}
	if now.Before(o.next) {
		return given
	}
	if o.next = now.Add(judgeEvery); e.Board.Total(queue.Active)+e.Board.Total(queue.Unschedulable)+e.Board.Total(queue.Gated) > manyPods {
		o.next = now.Add(judgeManyEvery)
	}
	o.findUnserved(e, now)
	c := &opinion.Cluster{Objects: e.Objects, Diagnose: func(pod *v1.Pod) *cycle.Diagnosis { return o.diagnose(e, now, pod) }}
	for _, tier := range board.Tiers {
		e.Board.Tiers[tier].Scan(func(p *board.Pod) bool {
			if v := o.watch.Judge(opinionPod(p), c); !v.Is(p.Opinion) {
				given = append(given, sources.Event{Time: now, Fact: &opinion.Given{Pod: p.Key, UID: p.PodInfo.Pod.UID, Verdict: v}})
			}
			return true
		})
	}
	return given
}

// apply has e apply ev, and the verdicts that follow from it.
func (o *opinions) apply(e *Engine, ev sources.Event) {
	o.observe(e, ev)
	e.apply(ev)
	for _, given := range o.judge(e, ev.Time) {
		e.apply(given)
	}
}

// pass lets time pass in which a live source, which would show it, shows nothing.
func (o *opinions) pass(now time.Time) {
	if o != nil {
		o.watch.Pass(now)
	}
}

// diagnose asks the local scheduler about pod now, unless it was asked too often. Otherwise it returns nil.
func (o *opinions) diagnose(e *Engine, now time.Time, pod *v1.Pod) (d *cycle.Diagnosis) {
	ask := func(sched *cycle.Scheduler) (err error) {
		d, err = sched.Diagnose(pod)
		return err
	}
	takes := time.Duration(e.Objects.Count("Node")) * askTime
	if sched := o.feed.Scheduler(); sched != nil {
		if o.mayAsk(now, takes) {
			_ = ask(sched) // then it is unknown
		}
		return d
	}
	if !o.aligned.Equal(now) { // else it has these objects
		takes += time.Duration(e.Objects.Tree.Len()) * askSpareTime
	}
	if o.mayAsk(now, takes) {
		o.aligned = now
		_ = o.spare.Borrow(e, func(sched *cycle.Scheduler) error {
			sched.Drive(e.Queue)
			return ask(sched)
		})
	}
	return d
}

// mayAsk reports whether enough time has passed for a question that takes up so much of it.
func (o *opinions) mayAsk(now time.Time, takes time.Duration) bool {
	if earliest := now.Add(-longestSaved); o.asked.Before(earliest) {
		o.asked = earliest
	}
	if now.Sub(o.asked) < takes {
		return false
	}
	o.asked = o.asked.Add(takes)
	return true
}

// opinionPod returns what is known about p.
func opinionPod(p *board.Pod) *opinion.Pod {
	return &opinion.Pod{
		Key: p.Key, Object: p.PodInfo.Pod, Tier: p.Tier, Since: p.Since, Arrived: p.Arrived, Observed: p.Observed, Gone: !p.GoneSince.IsZero(),
		Group: p.Group, Rejectors: p.RejectorPlugins(), GatingPlugin: p.GatingPlugin, GateMessage: p.GateMessage, Verdict: p.LastVerdict,
	}
}

// judgedAnew reports whether a change gives a pod another verdict, or takes it away.
func judgedAnew(c board.Change) bool {
	var before, after *opinion.Verdict
	if c.Before != nil {
		before = c.Before.Opinion
	}
	if c.After != nil {
		after = c.After.Opinion
	}
	return c.After != nil && !after.Is(before)
}

// findUnserved finds the pods that no profile of the scheduler works on, as long as nobody is seen to work on them.
func (o *opinions) findUnserved(e *Engine, now time.Time) {
	before := o.noneSince
	o.none, o.noneSince = nil, map[types.UID]time.Time{}
	o.watch.Unserved(e.Objects, e.Config.HasProfile, func(pod *v1.Pod, v *opinion.Verdict) {
		given, known := before[pod.UID]
		if !known {
			given = now
		}
		created := pod.CreationTimestamp.UTC()
		p := &board.Pod{Key: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, Since: given, Arrived: created, Observed: true, Opinion: v}
		p.ReadObject(pod)
		o.none, o.noneSince[pod.UID] = append(o.none, p), given
	})
}

// unserved returns the pods that findUnserved found: they are in no tier, and their Since is when they got their verdict.
func (o *opinions) unserved() []*board.Pod {
	if o == nil {
		return nil
	}
	return o.none
}
