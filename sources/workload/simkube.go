package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tinylib/msgp/msgp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/manifest"
	"github.com/schedq/schedq/sources/scenario"
)

// SimKubeFormat is the format of SimKube's traces (github.com/acrlabs/simkube, docs/ref/trace-files.md, sk-core/src/trace).
const SimKubeFormat = "simkube"

// Bounds of one trace.
const (
	maxTrace   = 64 << 20 // bytes
	maxObject  = 16 << 20 // bytes of JSON
	maxMade    = 150_000  // pods
	maxNesting = 100
	// knownVersion is the version of the format that is read.
	knownVersion = 2
)

// SniffSimKube reports whether a file that begins with head is one of SimKube's traces: a map in MessagePack that begins with its version.
func SniffSimKube(head []byte) bool {
	return len(head) > 9 && head[0]&0xf0 == 0x80 && bytes.HasPrefix(head[1:], []byte("\xa7version"))
}

// owner identifies an object in a trace: its kind, "apps/v1.Deployment", and its namespace and name.
type owner struct{ kind, name string }

// lifecycle is when a pod of an owner ran, in seconds since 1970. end is 0 if it did not end.
type lifecycle struct{ start, end int64 }

// simkube reads a trace.
type simkube struct {
	in     *msgp.Reader
	name   string
	events []traceEvent
	cycles map[owner][]lifecycle

	all     moments
	there   map[owner][]runtime.Object // the current objects of each
	made    int                        // objects
	leftOut int
	cause   error // why the first could not be taken
}

// traceEvent is an event of a trace: objects in JSON.
type traceEvent struct {
	at      int64 // seconds since 1970
	applied [][]byte
	deleted [][]byte
}

// ReadSimKube reads a trace: the applied and deleted objects, with the pods that controllers create from them. It skips
// objects that it can't use and adds a notice. An error is one sentence with the name.
func ReadSimKube(name string, from io.Reader) (*Part, error) {
	name = string(sources.Sanitize(name))
	limited := &io.LimitedReader{R: from, N: maxTrace}
	s := &simkube{in: msgp.NewReader(limited), name: name, cycles: map[owner][]lifecycle{}, all: moments{}, there: map[owner][]runtime.Object{}}
	s.in.SetMaxRecursionDepth(maxNesting)
	s.in.SetMaxElements(1 << 20)
	s.in.SetMaxStringLength(maxObject)
	err := s.read()
	switch {
	case limited.N == 0:
		return nil, fmt.Errorf("%s: the trace has more than %d MiB", name, maxTrace>>20)
	case errors.Is(err, errVersion):
		return nil, fmt.Errorf("%s: %w", name, err)
	case err != nil:
		return nil, fmt.Errorf("%s: the trace is damaged: %s", name, sources.Sanitize(err.Error()))
	}
	return s.part()
}

var errVersion = fmt.Errorf("schedq reads version %d of SimKube's traces, and this is another", knownVersion)

// read reads the trace's map.
func (s *simkube) read() error {
	return s.eachMember(func(key string) error {
		switch key {
		case "version":
			v, err := s.in.ReadInt64()
			if err == nil && v != knownVersion {
				err = errVersion
			}
			return err
		case "events":
			return s.eachElement(s.event)
		case "pod_lifecycles":
			return s.lifecycles()
		}
		return s.in.Skip()
	})
}

// eachMember calls read with each key of a map; it must read the value.
func (s *simkube) eachMember(read func(key string) error) error {
	n, err := s.in.ReadMapHeader()
	for range n {
		var key []byte
		if key, err = s.in.ReadMapKey(nil); err == nil {
			err = read(string(key))
		}
		if err != nil {
			return err
		}
	}
	return err
}

// eachElement calls read for each element of an array, which it must read.
func (s *simkube) eachElement(read func() error) error {
	n, err := s.in.ReadArrayHeader()
	for range n {
		if err = read(); err != nil {
			return err
		}
	}
	return err
}

// event reads an event.
func (s *simkube) event() error {
	var e traceEvent
	err := s.eachMember(func(key string) (err error) {
		switch key {
		case "ts":
			e.at, err = s.in.ReadInt64()
		case "applied_objs":
			e.applied, err = s.objects()
		case "deleted_objs":
			e.deleted, err = s.objects()
		default:
			err = s.in.Skip()
		}
		return err
	})
	if err == nil {
		err = sources.CheckTime(time.Unix(e.at, 0))
	}
	s.events = append(s.events, e)
	return err
}

// objects reads an array of objects.
func (s *simkube) objects() (all [][]byte, err error) {
	err = s.eachElement(func() error {
		object, err := s.json()
		all = append(all, object)
		return err
	})
	return all, err
}

// json reads a value and returns it in JSON.
func (s *simkube) json() ([]byte, error) {
	var packed, text bytes.Buffer
	if _, err := s.in.CopyNext(&packed); err != nil {
		return nil, err
	}
	_, err := msgp.UnmarshalAsJSON(&text, packed.Bytes())
	return text.Bytes(), err
}

// lifecycles reads when pods ran: a map by pairs of an owner's kind and its name, of maps by a pod's hash.
func (s *simkube) lifecycles() error {
	n, err := s.in.ReadMapHeader()
	for range n {
		var of owner
		parts := []*string{&of.kind, &of.name}
		if err = s.eachElement(func() (err error) {
			if len(parts) == 0 {
				return s.in.Skip()
			}
			*parts[0], err = s.in.ReadString()
			parts = parts[1:]
			return err
		}); err != nil {
			return err
		}
		var hashes uint32
		if hashes, err = s.in.ReadMapHeader(); err != nil {
			return err
		}
		for range hashes {
			if err = s.in.Skip(); err != nil { // a number, which is not a valid JSON key
				return err
			}
			raw, err := s.json()
			if err != nil {
				return err
			}
			s.cycles[of] = append(s.cycles[of], readLifecycles(raw)...)
		}
	}
	return err
}

// readLifecycles reads a list of {"Finished": [START, END]}, {"Running": START} and "Empty".
func readLifecycles(raw []byte) (all []lifecycle) {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list)
	for _, one := range list {
		var c struct {
			Finished [2]int64
			Running  int64
		}
		if json.Unmarshal(one, &c) == nil && (c.Finished[0] > 0 || c.Running > 0) {
			all = append(all, lifecycle{max(c.Finished[0], c.Running), c.Finished[1]})
		}
	}
	return all
}

// part returns the moments of the trace.
func (s *simkube) part() (*Part, error) {
	slices.SortStableFunc(s.events, func(a, b traceEvent) int { return int(min(max(a.at-b.at, -1), 1)) })
	var start int64
	for i, e := range s.events {
		if i == 0 {
			start = e.at
		}
		for _, raw := range e.deleted {
			s.remove(e.at-start, ownerOf(raw))
		}
		for _, raw := range e.applied {
			if err := s.apply(start, e.at, raw); err != nil {
				return nil, err
			}
		}
	}
	p := &Part{Moments: s.all.list(), Start: time.Unix(start, 0).UTC()}
	if len(p.Moments) == 0 {
		return nil, fmt.Errorf("%s: the trace makes no pod%s", s.name, s.why())
	}
	if s.leftOut > 0 {
		p.Notices = append(p.Notices, fmt.Sprintf("%s: of the trace's objects, %d make no pods%s", s.name, s.leftOut, s.why()))
	}
	return p, nil
}

func (s *simkube) why() string {
	if s.cause == nil {
		return ""
	}
	return fmt.Sprintf(", the first because %s", sources.Sanitize(s.cause.Error()))
}

// ownerOf returns the owner that identifies an object.
func ownerOf(raw []byte) owner {
	var o struct {
		metav1.TypeMeta
		Metadata struct{ Namespace, Name string }
	}
	_ = json.Unmarshal(raw, &o)
	return owner{o.APIVersion + "." + o.Kind, o.Metadata.Namespace + "/" + o.Metadata.Name}
}

// apply applies an object at a second since 1970, and replaces the objects that were created from it before.
func (s *simkube) apply(start, at int64, raw []byte) error {
	of := ownerOf(raw)
	if strings.HasSuffix(of.kind, ".CronJob") {
		return s.cron(start, of, raw)
	}
	objects, err := s.make(raw)
	if err != nil || objects == nil {
		return err
	}
	old := s.there[of]
	s.there[of] = objects
	names := map[scenario.Object]bool{}
	for _, obj := range objects {
		names[nameOf(obj)] = true
	}
	for _, obj := range old {
		if !names[nameOf(obj)] {
			m := s.all.at(at - start)
			m.Delete = append(m.Delete, nameOf(obj))
		}
	}
	n := 0
	for _, obj := range objects {
		known := slices.ContainsFunc(old, func(o runtime.Object) bool { return nameOf(o) == nameOf(obj) })
		if _, is := obj.(*v1.Pod); is {
			n++
			if known && !strings.HasSuffix(of.kind, ".Pod") {
				continue // a controller changes no pod
			}
		}
		m := s.all.at(at - start)
		m.Objects = append(m.Objects, obj)
		if cycles := s.cycles[of]; !known && n > 0 && len(cycles) > 0 {
			s.endAfter(at-start, cycles[(n-1)%len(cycles)], obj)
		}
	}
	return nil
}

// cron creates the pods of a CronJob at the times at which they ran.
func (s *simkube) cron(start int64, of owner, raw []byte) error {
	var o struct {
		Metadata struct{ Namespace, Name string }
		Spec     struct {
			JobTemplate struct{ Spec map[string]json.RawMessage }
		}
	}
	if s.there[of] != nil || json.Unmarshal(raw, &o) != nil || o.Spec.JobTemplate.Spec == nil {
		return nil
	}
	o.Spec.JobTemplate.Spec["parallelism"], o.Spec.JobTemplate.Spec["completions"] = json.RawMessage("1"), json.RawMessage("1")
	for i, c := range s.cycles[of] {
		job, err := json.Marshal(map[string]any{"apiVersion": "batch/v1", "kind": "Job", "spec": o.Spec.JobTemplate.Spec,
			"metadata": map[string]string{"namespace": o.Metadata.Namespace, "name": fmt.Sprintf("%s-%d", o.Metadata.Name, i)}})
		if err != nil {
			return nil
		}
		objects, err := s.make(job)
		if err != nil || objects == nil {
			return err
		}
		for _, obj := range objects {
			at := max(c.start-start, 0)
			m := s.all.at(at)
			m.Objects = append(m.Objects, obj)
			s.endAfter(at, c, obj)
			s.there[of] = append(s.there[of], obj)
		}
	}
	return nil
}

// endAfter deletes a pod that was created at that second after the run time of one of its owner's pods, if that one ended.
func (s *simkube) endAfter(second int64, c lifecycle, obj runtime.Object) {
	if c.end == 0 || c.end-c.start > maxSecond {
		return
	}
	m := s.all.at(second + max(c.end-c.start, 1))
	m.Delete = append(m.Delete, nameOf(obj))
}

// remove deletes the objects that were created from an object.
func (s *simkube) remove(second int64, of owner) {
	for _, obj := range s.there[of] {
		m := s.all.at(second)
		m.Delete = append(m.Delete, nameOf(obj))
	}
	delete(s.there, of)
}

// make returns the objects that controllers create from one, or nil if that can't be used.
func (s *simkube) make(raw []byte) ([]runtime.Object, error) {
	m, err := manifest.Parse("an object", withAccount(raw))
	if err == nil && len(m.Notices) > 0 {
		err = errors.New(m.Notices[0])
	}
	if err != nil {
		if s.leftOut++; s.cause == nil {
			s.cause = err
		}
		return nil, nil
	}
	if s.made += len(m.Objects); s.made > maxMade {
		return nil, fmt.Errorf("%s: the trace makes more than %d objects", s.name, maxMade)
	}
	for _, obj := range m.Objects {
		if pod, is := obj.(*v1.Pod); is && pod.Spec.SchedulerName == "" {
			pod.Spec.SchedulerName = v1.DefaultSchedulerName
		}
	}
	return m.Objects, nil
}

// withAccount sets the service account of a pod, which the tracer removes: the API server had set one, and the pod has a
// volume with its token.
func withAccount(raw []byte) []byte {
	var pod map[string]json.RawMessage
	var spec map[string]json.RawMessage
	if json.Unmarshal(raw, &pod) != nil || string(pod["kind"]) != `"Pod"` || json.Unmarshal(pod["spec"], &spec) != nil || spec["serviceAccountName"] != nil {
		return raw
	}
	spec["serviceAccountName"] = json.RawMessage(`"default"`)
	pod["spec"], _ = json.Marshal(spec)
	named, _ := json.Marshal(pod)
	return named
}

func nameOf(obj runtime.Object) scenario.Object {
	m := obj.(metav1.Object)
	return scenario.Object{Kind: obj.GetObjectKind().GroupVersionKind().Kind, NamespacedName: types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}}
}
