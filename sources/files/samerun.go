package files

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/audit"
	"github.com/schedq/schedq/sources/schedlog"
)

// maxGap is how much time may be missing between the files of one run. While a cluster runs, its audit
// log is never silent for that long: schedulers and controllers renew their leases every few seconds.
const maxGap = time.Minute

// span is the time that a file covers.
type span struct {
	name        string
	first, last time.Time
}

func (f *file) span() span {
	if f.log != nil {
		return span{f.log.Name, f.log.First, f.log.Last}
	}
	return span{f.reader.Name(), f.part.First, f.part.Last}
}

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
		if f.format == schedlog.Format && len(podsOf(f.part)) > 0 {
			schedulers = append(schedulers, s)
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
			return fmt.Errorf("%w, and the logs of one cluster's schedulers do not overlap", different(schedulers[i-1], schedulers[i]))
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

// samePods returns an error if a scheduler's log names pods and not one of them is in the audit logs.
func samePods(files []*file) error {
	known, from := map[types.NamespacedName]bool{}, ""
	for _, f := range files {
		if f.log != nil {
			for pod := range f.log.Pods() {
				known[pod] = true
			}
			from = f.log.Name
		}
	}
	if len(known) == 0 {
		return nil
	}
	for _, f := range files {
		// In a short time it may be that what the scheduler tries changes nothing, so that no request tells of it.
		if f.format != schedlog.Format {
			continue
		}
		pods := podsOf(f.part)
		if len(pods) < fewPods && !tellsBinding(f.part) {
			continue
		}
		if len(pods) > 0 && !slices.ContainsFunc(pods, func(p types.NamespacedName) bool { return known[p] }) {
			return strangers(f, pods, from)
		}
	}
	return nil
}

// fewPods is how many pods a scheduler's log names of which an audit log of the same time may well tell nothing.
const fewPods = 20

// tellsBinding reports whether a part tells that a pod was bound or came, of which an audit log always tells, too.
func tellsBinding(part *sources.Part) bool {
	return slices.ContainsFunc(part.Events, func(e sources.Event) bool {
		m, isMove := e.Fact.(*sources.Move)
		return isFact[*sources.Bound](e) || isMove && (m.To == sources.TierScheduled || queue.IsPodAdd(m.Event))
	})
}

// sameRunAs returns an error unless the files can be of the run of rec, which was read before: each is of
// about the same time, and if its moves name pods, of the same pods. named are those of each file, or some of them.
func sameRunAs(ctx context.Context, rec *sources.Recording, files []*file, named [][]types.NamespacedName) error {
	told := rec.Tells()
	if len(told) == 0 {
		return nil
	}
	before := span{string(rec.Name), told[0].Time, told[len(told)-1].Time}
	unknown := map[types.NamespacedName][]int{} // of which files it is
	known := make([]bool, len(files))           // rec has a pod of it, or it names none
	for i, f := range files {
		s := f.span()
		if !s.first.IsZero() && (s.first.Sub(before.last) > maxGap || before.first.Sub(s.last) > maxGap) {
			return different(before, s)
		}
		known[i] = len(named[i]) == 0
		for _, pod := range named[i] {
			unknown[pod] = append(unknown[pod], i)
		}
	}
	if !slices.Contains(known, false) {
		return nil
	}
	knows := false // rec knows any pod at all
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
		for _, i := range unknown[pod] {
			if known[i] = true; !slices.Contains(known, false) {
				return nil
			}
		}
	}
	if i := slices.Index(known, false); i >= 0 && knows {
		return strangers(files[i], named[i], before.name)
	}
	return nil
}

// strangers is the error that none of f's pods is in the file from.
func strangers(f *file, pods []types.NamespacedName, from string) error {
	return fmt.Errorf("%s and %s are of different runs: none of the %d pods in the former, such as %s, is in the latter",
		f.reader.Name(), from, len(pods), pods[0])
}

// podsOfEach returns the pods that each file's moves and attempts name.
func podsOfEach(files []*file) [][]types.NamespacedName {
	named := make([][]types.NamespacedName, len(files))
	for i, f := range files {
		if f.part != nil {
			named[i] = podsOf(f.part)
		}
	}
	return named
}

// podsOf returns the pods that a part's moves and attempts name, each once.
func podsOf(part *sources.Part) []types.NamespacedName {
	var pods []types.NamespacedName
	seen := map[types.NamespacedName]bool{}
	for _, e := range part.Events {
		if pod, names := sources.LoggedPod(e.Fact); names && !seen[pod] {
			seen[pod] = true
			pods = append(pods, pod)
		}
	}
	return pods
}
