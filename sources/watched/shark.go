package watched

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/attempts"
	"github.com/schedq/schedq/sources/jsonscan"
	"github.com/schedq/schedq/sources/lines"
)

// SharkFormat is the format's name in sources.Recording.
const SharkFormat = "k8shark"

// newestShark is the newest known archive version of k8shark (its docs/archive-format.md). Additions do not change it.
const newestShark = 2

// sharkBegins are the starts of its lines: a record, and the metadata.
var sharkBegins = []string{`{"id":"`, `{"format_version":`}

// SniffShark reports whether a line from a file's beginning is one of k8shark's (github.com/phenixblue/k8shark, internal/archive/format),
// and a time from it: a record of what an API server answered or of what a watch told, as kshrk capture --out - writes one a line.
// Of an archive its reader makes the same, with metadata.json before the records.
func SniffShark(line []byte) (time.Time, bool) {
	line = line[:min(len(line), 1024)]
	if !slices.ContainsFunc(sharkBegins, func(b string) bool { return bytes.HasPrefix(line, []byte(b)) }) ||
		!bytes.Contains(line, []byte(`"api_path":"`)) && !bytes.Contains(line, []byte(`"capture_id":"`)) {
		return time.Time{}, false
	}
	_, rest, ok := bytes.Cut(line, []byte(`"captured_at":"`))
	stamp, _, _ := bytes.Cut(rest, []byte(`"`))
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	return at.UTC(), ok && err == nil
}

// sharkRecord is a line: a record, or the metadata.
type sharkRecord struct {
	Time     *time.Time      `json:"captured_at"`
	Path     string          `json:"api_path"`
	Event    string          `json:"event_type"`
	Code     int             `json:"response_code"`
	Body     json.RawMessage `json:"response_body"`
	Format   int             `json:"format_version"`
	Capture  string          `json:"capture_id"`
	Released string          `json:"kubernetes_version"`
}

// answer is the content of a record: a list, or a change.
type answer struct {
	at       time.Time
	path     string
	event    string // empty for a list
	revision uint64 // of a list
	seen     []seen
	failed   []*eventsv1.Event
}

// seen is an object as it was at a revision.
type seen struct {
	obj      runtime.Object
	revision uint64
}

// shark reads records.
type shark struct {
	reader
	answers  []answer
	decoded  map[seenName]runtime.Object // an unchanged object is in many lists
	released string
	watched  bool
	objects  int
	there    map[string]map[types.UID]seen // the current objects of each path
	ended    map[types.UID]bool
}

func (s seen) uid() types.UID { return s.obj.(metav1.Object).GetUID() }

// seenName identifies an unchanged object.
type seenName struct {
	uid      string
	revision string
}

// ReadShark reads a k8shark recording to its end, as Read does. Its records may be in any order. It returns an error for
// a recording without watches, which contains only snapshots.
func ReadShark(r *lines.Reader) (*sources.Part, error) {
	s := &shark{reader: newReader(r, SharkFormat), decoded: map[seenName]runtime.Object{}, there: map[string]map[types.UID]seen{}, ended: map[types.UID]bool{}}
	err := r.ReadAll(func(line []byte) error {
		object, rest := jsonscan.Whole(line)
		if object == nil || len(rest) > 0 {
			return r.Salvage(line, jsonscan.ErrNotJSON, sharkBegins, s.record)
		}
		return s.record(object)
	})
	if err != nil {
		return nil, err
	}
	if !s.watched && len(s.answers) > 0 {
		return nil, fmt.Errorf("%s: it was captured without watch: true, so it contains only snapshots: use it as --seed with a log", r.Name())
	}
	s.tell()
	return s.finish()
}

var errNoRecord = errors.New("the line is no record: it has no time or no path")

// record reads a line.
func (s *shark) record(object []byte) error {
	var r sharkRecord
	if err := json.Unmarshal(object, &r); err != nil || r.Time == nil || r.Path == "" && r.Capture == "" {
		return s.lines.Unread(errNoRecord)
	}
	if err := sources.CheckTime(*r.Time); err != nil {
		return s.lines.Unread(err)
	}
	if r.Capture != "" {
		if r.Format > newestShark {
			return s.lines.Errorf("the archive is of version %d, and schedq reads up to %d", r.Format, newestShark)
		}
		s.released = r.Released
		return nil
	}
	if r.Code != 200 || strings.Contains(r.Path, "?") || !isResource(r.Path) { // a table or another kind of response
		return nil
	}
	a := answer{at: r.Time.UTC(), path: r.Path, event: r.Event}
	s.part.Saw(a.at)
	if r.Event != "" {
		s.watched = true
		return s.decodeAll(a, "", r.Body)
	}
	var list struct {
		metav1.TypeMeta
		Metadata metav1.ListMeta
		Items    []json.RawMessage
	}
	if err := json.Unmarshal(r.Body, &list); err != nil {
		return s.lines.Unread(errors.New("what the API server answered is no list"))
	}
	a.revision, _ = strconv.ParseUint(list.Metadata.ResourceVersion, 10, 64)
	kind, _ := strings.CutSuffix(list.Kind, "List")
	return s.decodeAll(a, fmt.Sprintf(`"apiVersion":%q,"kind":%q,`, list.APIVersion, kind), list.Items...)
}

// isResource reports whether a path is one of a resource: /api/v1/nodes, /apis/GROUP/VERSION/namespaces/NS/RESOURCE.
func isResource(path string) bool {
	n := strings.Count(path, "/")
	return strings.HasPrefix(path, "/api/") && n >= 3 || strings.HasPrefix(path, "/apis/") && n >= 4
}

// decodeAll decodes the objects of an answer, which are items of a list without kinds.
func (s *shark) decodeAll(a answer, of string, raws ...json.RawMessage) error {
	for _, raw := range raws {
		var head struct {
			Kind     string
			Metadata struct{ UID, ResourceVersion string }
		}
		if len(raw) < 2 || json.Unmarshal(raw, &head) != nil {
			if err := s.lines.Unread(errors.New("an object in it is none")); err != nil {
				return err
			}
			continue
		}
		name := seenName{head.Metadata.UID, head.Metadata.ResourceVersion}
		obj, known := s.decoded[name]
		if !known || name.uid == "" {
			if head.Kind == "" && len(bytes.TrimSpace(raw[1:])) > 1 {
				raw = append([]byte("{"+of), raw[1:]...)
			}
			if e := attempts.Decode(raw); e != nil {
				a.failed = append(a.failed, e)
				continue
			}
			var err error
			if obj, err = s.decoder.Decode(raw); err != nil {
				_, named := sources.Identity(raw)
				if err := s.lines.SkipChange(named, err); err != nil {
					return err
				}
				continue
			}
			s.decoded[name] = obj
		}
		if obj == nil {
			continue
		}
		if s.objects++; s.objects > maxChanges {
			return s.lines.Errorf("more than %d changes", maxChanges)
		}
		revision, _ := strconv.ParseUint(name.revision, 10, 64)
		a.seen = append(a.seen, seen{obj, revision})
	}
	s.lines.Keep(sources.CostEntry * (1 + len(a.seen)))
	s.answers = append(s.answers, a)
	return nil
}

// tell sorts the answers and emits their changes, the initial objects first.
func (s *shark) tell() {
	slices.SortStableFunc(s.answers, func(a, b answer) int { return a.at.Compare(b.at) })
	listed := map[string]bool{}
	var began time.Time // when each path was requested once
	for _, a := range s.answers {
		if a.event != "" {
			continue
		}
		if listed[a.path] {
			break
		}
		listed[a.path], began = true, a.at
	}
	s.nodes = listed["/api/v1/nodes"]
	var before []*eventsv1.Event
	pods := map[types.NamespacedName]*corev1.Pod{}
	for _, a := range s.answers {
		if a.event == "" && !a.at.After(began) {
			s.list(a)
			before = append(before, a.failed...)
			for _, o := range a.seen {
				if pod, is := o.obj.(*corev1.Pod); is {
					pods[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = pod
				}
			}
		}
	}
	for _, t := range attempts.SumUp(slices.Values(before), func(name types.NamespacedName) *corev1.Pod { return pods[name] }) {
		s.part.Add(began, t)
	}
	s.before = began
	s.attached()
	if s.released != "" && !began.IsZero() {
		s.part.Add(began, &sources.SchedulerRunning{Release: sources.Sanitize(s.released), From: sources.ReleaseServer})
	}
	for _, a := range s.answers {
		switch {
		case a.event != "":
			a.at = later(a.at, began)
			s.watch(a)
		case a.at.After(began):
			s.list(a)
		}
	}
	slices.SortStableFunc(s.part.Events, func(a, b sources.Event) int { return a.Time.Compare(b.Time) })
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// objectsAt returns the known objects of a path.
func (s *shark) objectsAt(path string) map[types.UID]seen {
	if s.there[path] == nil {
		s.there[path] = map[types.UID]seen{}
	}
	return s.there[path]
}

// watch applies a change.
func (s *shark) watch(a answer) {
	for _, now := range a.seen {
		if !s.isNews(a.path, now) {
			continue // a list contained it already
		}
		if a.event == "DELETED" {
			s.end(a, now)
		} else {
			s.put(a, now)
		}
	}
	for _, e := range a.failed {
		f, ok := attempts.Read(e)
		if ok && a.event != "DELETED" && !f.Last.After(a.at) {
			s.part.Add(f.Last.UTC(), &sources.FailedAttempt{Pod: f.Pod, UID: f.UID, Message: f.Message, Recorded: f.Recorded})
		}
	}
}

// list applies a snapshot: deletions, and objects that are newer than the known ones.
func (s *shark) list(a answer) {
	there := map[types.UID]bool{}
	for _, now := range a.seen {
		there[now.uid()] = true
	}
	known := s.objectsAt(a.path)
	for _, uid := range slices.Sorted(maps.Keys(known)) {
		if old := known[uid]; !there[uid] && old.revision <= a.revision {
			s.end(a, old)
		}
	}
	for _, now := range a.seen {
		if s.isNews(a.path, now) {
			s.put(a, now)
		}
	}
}

// isNews reports whether the state of an object, or its deletion, was not known yet.
func (s *shark) isNews(path string, now seen) bool {
	old, known := s.objectsAt(path)[now.uid()]
	return !s.ended[now.uid()] && (!known || now.revision > old.revision)
}

func (s *shark) put(a answer, now seen) {
	s.objectsAt(a.path)[now.uid()] = now
	s.add(a.at, false, now.obj)
}

func (s *shark) end(a answer, now seen) {
	delete(s.objectsAt(a.path), now.uid())
	s.ended[now.uid()] = true
	s.add(a.at, true, now.obj)
}
