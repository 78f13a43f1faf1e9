package files

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
)

// maxGap is how much time may be missing between the files of one run. While a cluster runs, its audit
// log is never silent for that long: schedulers and controllers renew their leases every few seconds.
const maxGap = time.Minute

// span is the time that a file covers.
type span struct {
	name        string
	first, last time.Time
}

func (f *file) span() span { return span{f.name, f.part.First, f.part.Last} }

// sameRun returns an error unless the files can be of one run of one cluster: together they cover one
// stretch of time without a gap, scheduler logs do not overlap (two schedulers of one cluster take
// turns), and the scheduler's pods are pods of the audit log.
func sameRun(files []*file) error {
	var spans, schedulers []span
	for _, f := range files {
		s := f.span()
		if s.first.IsZero() {
			continue // no times, no claim
		}
		spans = append(spans, s)
		if f.sched != nil && !f.sched.WorkedFrom.IsZero() {
			schedulers = append(schedulers, span{f.name, f.sched.WorkedFrom, f.sched.WorkedTo}.after(f.repeated))
		}
	}
	byFirst := func(a, b span) int { return a.first.Compare(b.first) }
	slices.SortStableFunc(spans, byFirst)
	for i, covered := 1, 0; i < len(spans); i++ {
		if spans[i].first.Sub(spans[covered].last) > maxGap {
			return different(spans[covered], spans[i])
		}
		if spans[i].last.After(spans[covered].last) {
			covered = i
		}
	}
	slices.SortStableFunc(schedulers, byFirst)
	for i := 1; i < len(schedulers); i++ {
		if schedulers[i-1].last.Sub(schedulers[i].first) > time.Second {
			return fmt.Errorf("%w, and schedulers that take turns do not work at the same time: open the log of one scheduler", different(schedulers[i-1], schedulers[i]))
		}
	}
	return cmp.Or(sameCluster(files), samePods(files))
}

// sameCluster returns an error if audit logs are of two clusters.
func sameCluster(files []*file) error {
	var logs []audit.OriginLog
	for _, f := range files {
		if f.log != nil {
			logs = append(logs, audit.OriginLog{Name: f.log.Name, OriginRevisions: &f.log.Revisions})
		}
	}
	return audit.OriginConflict(logs)
}

func different(a, b span) error {
	return fmt.Errorf("%s and %s are of different runs: the former covers %s, the latter %s", a.name, b.name, a.text(), b.text())
}

func (s span) text() string {
	to := "15:04:05"
	if s.first.YearDay() != s.last.YearDay() || s.first.Year() != s.last.Year() {
		to = "2006-01-02 15:04:05"
	}
	return s.first.UTC().Format("2006-01-02 15:04:05") + " to " + s.last.UTC().Format(to)
}

// fewPods is how many pods a scheduler's log may name that the audit log of the same time lacks: in a short time, attempts
// may have changed nothing, so that the scheduler sent no request.
const fewPods = 20

// samePods returns an error if a scheduler's log names pods and not one of them is in the audit logs.
func samePods(files []*file) error {
	audited := slices.DeleteFunc(slices.Clone(files), func(f *file) bool { return f.log == nil })
	if !slices.ContainsFunc(audited, func(f *file) bool { return f.log.Pods.Len() > 0 }) {
		return nil
	}
	for _, f := range files {
		if f.sched == nil || f.sched.Pods.Len() == 0 || f.sched.Pods.Len() < fewPods && !f.sched.Places {
			continue
		}
		if !slices.ContainsFunc(audited, func(other *file) bool { return f.sched.Pods.Shares(&other.log.Pods) }) {
			return strangers(f, &f.sched.Pods, audited[len(audited)-1].name)
		}
	}
	return nil
}

// sameRunAs returns an error unless the files can be of the run of rec: each covers about the same time, and if its moves
// name pods, rec has some of them.
func sameRunAs(ctx context.Context, rec *sources.Recording, files []*file) error {
	events := rec.Events
	if len(events) == 0 {
		return nil
	}
	before := span{string(rec.Name), events[0].Time, events[len(events)-1].Time}
	unknown := map[*file]*sources.PodNames{} // files none of whose pods is in rec
	for _, f := range files {
		s := f.span()
		if !s.first.IsZero() && (s.first.Sub(before.last) > maxGap || before.first.Sub(s.last) > maxGap) {
			return different(before, s)
		}
		if pods := f.pods(); pods.Len() > 0 {
			unknown[f] = pods
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	knows := false // rec has pods
	for e, err := range rec.All(ctx) {
		if err != nil {
			return err
		}
		var pod types.NamespacedName
		switch fact := e.Fact.(type) {
		case *sources.Move:
			pod = fact.Pod
		case *sources.ObjectChange:
			object, is := fact.Object.(*corev1.Pod)
			if !is {
				continue
			}
			pod = types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
		default:
			continue
		}
		knows = true
		maps.DeleteFunc(unknown, func(_ *file, pods *sources.PodNames) bool { return pods.Has(pod) })
		if len(unknown) == 0 {
			return nil
		}
	}
	for _, f := range files {
		if pods := unknown[f]; pods != nil && knows {
			return strangers(f, pods, before.name)
		}
	}
	return nil
}

// strangers returns the error that none of f's pods is in the file from.
func strangers(f *file, pods *sources.PodNames, from string) error {
	return fmt.Errorf("%s and %s are of different runs: none of the %d pods in the former, such as %s, is in the latter",
		f.name, from, pods.Len(), pods.First)
}

// pods returns the pods in the file's moves and attempts.
func (f *file) pods() *sources.PodNames {
	if f.sched != nil {
		return &f.sched.Pods
	}
	pods := &sources.PodNames{}
	for _, ev := range f.part.Events {
		if pod, names := sources.LoggedPod(ev.Fact); names {
			pods.Add(pod)
		}
	}
	return pods
}
