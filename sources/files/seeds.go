package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/attempts"
	"github.com/schedq/schedq/sources/earlier"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/seed"
	"github.com/schedq/schedq/sources/trace"
)

// Seeds contain the objects at one moment near the beginning of logs, which contain only changes.

// nearSeed limits how far a seed may be from the logs: in a longer time, too much changes unrecorded.
const nearSeed = time.Hour

// seedList has the objects of one file or record.
type seedList struct {
	name  string
	root  string    // the named file, folder or archive
	from  string    // the request that it answers: only one answer per request is used
	taken time.Time // zero if not known
	heard time.Time // see seed.List
	earlier.Seed
	events []*eventsv1.Event
}

// seeds returns what readSeeds looks for.
func seeds() sought {
	return sought{what: "a list of objects that kube-scheduler reads", unlike: notSeed, is: func(ctx context.Context, head []byte) bool {
		r, err := lines.New(ctx, "", time.Time{}, io.NopCloser(bytes.NewReader(head)))
		if err != nil {
			return false
		}
		defer r.Close()
		return isTrace(r.Head()) || seed.Sniff(r.Head())
	}}
}

// notSeed describes a file without objects.
func notSeed(head []byte) unlike {
	u := unlikeHead(head)
	if sought := recordings(); u.reason == "text" && sought.is(context.Background(), head) {
		u.reason = "log"
	} else if text := bytes.TrimSpace(head); u.reason == "text" && len(text) > 0 && (text[0] == '{' || text[0] == '[' || otherYAML.Match(head)) {
		u.reason = "other objects, or without a kind"
	}
	return u
}

var otherYAML = regexp.MustCompile(`(?m)^(?:apiVersion|kind): `)

func isTrace(head []byte) bool {
	for line := range beginnings(head) {
		_, is := trace.Sniff(line)
		return is
	}
	return false
}

// readSeeds reads the objects in the named files, folders and archives.
func readSeeds(ctx context.Context, opts Options) (all []seedList, notices []string, err error) {
	found, err := places(ctx, opts.Seeds, opts, seeds())
	if err != nil {
		return nil, nil, err
	}
	budget := lines.NewBudget(opts.Memory)
	var of []*file // the files read
	for _, p := range found {
		lists, said, err := readSeed(ctx, p, budget)
		switch {
		case err != nil && p.found && ctx.Err() == nil:
			if errors.Is(err, seed.ErrNothing) {
				p.among.add("objects that kube-scheduler does not read", relative(p))
			} else {
				p.among.add("unreadable", relative(p))
				notices = append(notices, fmt.Sprintf("%v: the file is left out", err))
			}
			continue
		case err != nil:
			return nil, nil, err
		}
		of = append(of, &file{place: p})
		all, notices = append(all, lists...), append(notices, said...)
	}
	if len(of) == 0 && len(found) > 0 {
		return nil, nil, found[0].among.refusal()
	}
	return all, append(notices, aboutFolders(of)...), nil
}

// readSeed reads one file: objects, or a trace that begins with all objects.
func readSeed(ctx context.Context, p place, budget *lines.Budget) (lists []seedList, notices []string, err error) {
	r, err := p.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	r.Spend(budget)
	switch {
	case isTrace(r.Head()):
		list, err := tracedSeed(r)
		return []seedList{list}, nil, err
	case !seed.Sniff(r.Head()):
		return nil, nil, fmt.Errorf("%s is no seed: pass objects as kubectl, must-gather, kwokctl, k8shark or schedq seed write them", r.Name())
	}
	file, err := seed.Read(r.Rest(), r.TryKeep)
	if lines.ExceedsMemory(err) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r.Name(), err)
	}
	for i, l := range file.Lists {
		if len(l.Objects)+len(l.Events) > 0 {
			lists = append(lists, seedList{name: r.Name(), root: p.root, from: cmp.Or(l.Source, fmt.Sprintf("%s %d", r.Name(), i)),
				taken: l.Taken, heard: l.Heard, Seed: earlier.Seed{Objects: l.Objects}, events: l.Events})
		}
	}
	if file.LeftOut > 0 {
		notices = append(notices, fmt.Sprintf("%s: %d invalid objects are left out, the first because %v", r.Name(), file.LeftOut, file.Cause))
	}
	return lists, notices, nil
}

// tracedSeed returns the objects of a trace at the moment when it attached to the scheduler, or at its end.
func tracedSeed(r *lines.Reader) (seedList, error) {
	list := seedList{name: r.Name(), from: r.Name()}
	part, err := trace.Read(r)
	if err != nil {
		return list, err
	}
	objects := map[sources.ObjectName]runtime.Object{}
	for _, e := range part.Events {
		list.taken = e.Time
		switch f := e.Fact.(type) {
		case *sources.Tried:
			list.Tried = append(list.Tried, f)
		case *sources.ObjectChange:
			if f.Verb == sources.Deleted {
				delete(objects, sources.NameOf(f.Object))
			} else {
				objects[sources.NameOf(f.Object)] = f.Object
			}
		case *sources.Attached:
			list.Began = f.Began
		}
		if isFact[*sources.Attached](e) {
			break
		}
	}
	for _, obj := range objects {
		list.Objects = append(list.Objects, obj)
	}
	return list, nil
}

// applySeeds returns the seeds' objects nearest to the beginning of the logs.
func applySeeds(lists []seedList, begin, end time.Time) (s earlier.Seed, notices []string) {
	heard := map[string]time.Time{}
	for _, l := range lists {
		if l.heard.After(heard[l.root]) {
			heard[l.root] = l.heard
		}
	}
	nearest, far := map[string]seedList{}, map[string]bool{}
	var order []string
	for _, l := range lists {
		at, what := l.taken, "was taken at"
		if at.IsZero() {
			at, what = heard[l.root], "last contains a heartbeat of a node at"
		}
		if !at.IsZero() && (begin.Sub(at) > nearSeed || at.Sub(end) > nearSeed) {
			if !far[l.root] {
				far[l.root] = true
				notices = append(notices, fmt.Sprintf("%s is of another time and is left out: it %s %s, but the logs cover %s",
					l.name, what, at.UTC().Format("2006-01-02 15:04:05"), span{"", begin, end}.text()))
			}
			continue
		}
		old, known := nearest[l.from]
		if !known {
			order = append(order, l.from)
		}
		if !known || isNearer(l.taken, old.taken, begin) {
			nearest[l.from] = l
		}
	}
	objects := map[sources.ObjectName]runtime.Object{}
	var events []*eventsv1.Event
	for _, from := range order {
		l := nearest[from]
		events = append(events, l.events...)
		for _, obj := range l.Objects {
			objects[sources.NameOf(obj)] = obj
		}
		s.Tried = append(s.Tried, l.Tried...)
		if !l.Began.IsZero() {
			s.Began = l.Began
		}
	}
	s.Tried = append(s.Tried, attempts.SumUp(slices.Values(events), func(name types.NamespacedName) *corev1.Pod {
		pod, _ := objects[sources.ObjectName{Kind: "Pod", NamespacedName: name}].(*corev1.Pod)
		return pod
	})...)
	for _, obj := range objects {
		s.Objects = append(s.Objects, obj)
	}
	slices.SortFunc(s.Objects, func(a, b runtime.Object) int {
		ma, mb := a.(metav1.Object), b.(metav1.Object)
		return cmp.Or(ma.GetCreationTimestamp().Compare(mb.GetCreationTimestamp().Time), sources.NameOf(a).Compare(sources.NameOf(b)))
	})
	return s, notices
}

// isNearer reports whether a seed taken at t is better than one taken at other: the last before begin is best, then the
// first after it.
func isNearer(t, other, begin time.Time) bool {
	if t.After(begin) != other.After(begin) {
		return other.After(begin)
	}
	return t.After(other) != t.After(begin)
}

// spanOf returns when the files begin and end.
func spanOf(files []*file) (begin, end time.Time) {
	for _, f := range files {
		s := f.span()
		if !s.first.IsZero() && (begin.IsZero() || s.first.Before(begin)) {
			begin = s.first
		}
		if s.last.After(end) {
			end = s.last
		}
	}
	return begin, end
}

// aboutFit returns notices about a seed's objects, and about logs without a seed that begin while the scheduler works.
func aboutFit(f earlier.Fit, lists []seedList, atWork bool) (notices []string) {
	say := func(n int, why string) {
		if n > 0 {
			notices = append(notices, fmt.Sprintf("Objects of the seed left out, %s: %d.", why, n))
		}
	}
	switch {
	case f.Foreign:
		return []string{"The seed is of another cluster than the logs, and is left out: nothing that both name is the same."}
	case len(lists) == 0 && atWork:
		return []string{"The logs begin while the scheduler is running. Earlier objects are known only if the logs contain them later, and the initial positions of pods are estimated. " +
			"To add the missing objects, use --seed FILE with the output of schedq seed or kubectl get -o json from about that time."}
	}
	say(f.Gone, "replaced by others with their names before the logs begin")
	say(f.Later, "created after the logs end")
	return notices
}
