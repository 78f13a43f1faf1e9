package scenario

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	yamlv3 "go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/manifest"
)

// Named reports whether a file of that name is a scenario's or a lesson's: it ends in .yaml or .yml.
func Named(path string) bool {
	return strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")
}

// Sniff reports whether head, the beginning of a file, is a scenario's or a lesson's.
func Sniff(head []byte) bool {
	docs, err := Documents("", head[:bytes.LastIndexByte(head, '\n')+1])
	return err == nil && docs[0].Key == "schedq"
}

// header is the first document of a scenario.
type header struct {
	Schedq      string `yaml:"schedq"`
	Version     int    `yaml:"version"`
	Name        string `yaml:"name"`
	Title       string `yaml:"title"`
	Description string `yaml:"description"`
	Settings    `yaml:",inline"`
}

// Settings are how a scenario is played: keys of its first document, and of a lesson's.
type Settings struct {
	Release                   string    `yaml:"release"`
	Start                     time.Time `yaml:"start"`
	End                       Duration  `yaml:"end"`
	PodInitialBackoff         *Duration `yaml:"podInitialBackoff"`
	PodMaxBackoff             *Duration `yaml:"podMaxBackoff"`
	PodMaxInUnschedulablePods *Duration `yaml:"podMaxInUnschedulablePods"`
}

// Duration is a time.Duration as Go writes it: 1m30s.
type Duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(n *yamlv3.Node) error {
	of, err := time.ParseDuration(n.Value)
	if err != nil || of < 0 || of > maxTime {
		return At(n, "%q is not a time like 5s or 1m30s, of at most %s", sources.Sanitize(n.Value), maxTime)
	}
	*d = Duration(of)
	return nil
}

// moment is a document that contains a time.
type moment struct {
	At     *Duration `yaml:"at"`
	When   *When     `yaml:"when"`
	After  Duration  `yaml:"after"`
	Mark   string    `yaml:"mark"`
	Delete []Object  `yaml:"delete"`
	// Inject and Activate are one word or several.
	Inject   injected `yaml:"inject"`
	Activate pods     `yaml:"activate"`
}

// UnmarshalYAML implements yaml.Unmarshaler: "web-1 enters backoff", and "web-1 enters backoff 2" for the
// second time.
func (w *When) UnmarshalYAML(n *yamlv3.Node) error {
	words := strings.Fields(n.Value)
	w.Nth = 1
	if len(words) == 4 {
		if _, err := fmt.Sscanf(words[3], "%d", &w.Nth); err != nil || w.Nth < 1 || w.Nth > 1000 {
			return At(n, "%q is not a number of times", sources.Sanitize(words[3]))
		}
	}
	if len(words) < 3 || len(words) > 4 || words[1] != "enters" {
		return At(n, "%q is not written like: web-1 enters backoff", sources.Sanitize(n.Value))
	}
	var err error
	if w.Pod, err = podName(words[0]); err != nil {
		return At(n, "%w", err)
	}
	if w.Into = sources.Tier(words[2]); !w.Into.Known() {
		return At(n, "there is no tier %q: active, backoff, unschedulable, gated, inflight, scheduled, deleted", sources.Sanitize(words[2]))
	}
	return nil
}

// UnmarshalYAML implements yaml.Unmarshaler: pod/web-1, node/node-a, pod/team-a/web-1.
func (o *Object) UnmarshalYAML(n *yamlv3.Node) error {
	kind, name, ok := strings.Cut(n.Value, "/")
	if !ok {
		return At(n, "%q is not written like: pod/web-1", sources.Sanitize(n.Value))
	}
	key, err := podName(name)
	if err != nil {
		return At(n, "%w", err)
	}
	o.Kind, o.NamespacedName = kind, key
	return nil
}

// podName reads NAME or NAMESPACE/NAME.
func podName(text string) (types.NamespacedName, error) {
	if !strings.Contains(text, "/") {
		text = metav1.NamespaceDefault + "/" + text
	}
	return sources.ParsePod(text)
}

// Read reads a scenario. Errors are as Parse's.
func Read(name string, r io.Reader) (*Scenario, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", sources.Sanitize(name), err)
	}
	return Parse(name, data)
}

// Parse reads the content of a file. An error is one sentence with the file's name and the line: what is not
// YAML, an unknown key, a typo in a manifest, an object that is not there to be deleted.
func Parse(name string, data []byte) (*Scenario, error) {
	docs, err := Documents(name, data)
	if err != nil {
		return nil, err
	}
	var h header
	if err := docs[0].Decode(name, &h); err != nil {
		return nil, err
	}
	switch {
	case h.Schedq == "lesson":
		return nil, fmt.Errorf("%s:%d: this is a lesson: schedq learn %[1]s", sources.Sanitize(name), docs[0].LineOf("schedq"))
	case h.Schedq != Format:
		return nil, fmt.Errorf("%s:%d: schedq: %q is not a scenario", sources.Sanitize(name), docs[0].LineOf("schedq"), sources.Sanitize(h.Schedq))
	case h.Version != Version:
		return nil, fmt.Errorf("%s:%d: version %d of scenarios is not known, only %d", sources.Sanitize(name), docs[0].LineOf("version"), h.Version, Version)
	}
	s, err := Play(name, h.Settings, docs[1:])
	if err != nil {
		return nil, err
	}
	s.Name, s.Title, s.Description = sources.Sanitize(h.Name), sources.Sanitize(h.Title), sources.Sanitize(h.Description)
	return s, nil
}

// Play makes a scenario of its settings and of the documents behind the first: manifests and moments. The
// name is the file's, for errors.
func Play(name string, set Settings, docs []Document) (*Scenario, error) {
	name = string(sources.Sanitize(name))
	s := &Scenario{Release: set.Release, Start: set.Start.UTC(), End: time.Duration(set.End),
		PodInitialBackoff: -1, PodMaxBackoff: -1, PodMaxInUnschedulablePods: -1}
	if s.Start.IsZero() {
		s.Start = defaultStart
	}
	if err := sources.CheckTime(s.Start); err != nil {
		return nil, fmt.Errorf("%s: start: %w", name, err)
	}
	for _, of := range []struct {
		from *Duration
		to   *time.Duration
	}{{set.PodInitialBackoff, &s.PodInitialBackoff}, {set.PodMaxBackoff, &s.PodMaxBackoff}, {set.PodMaxInUnschedulablePods, &s.PodMaxInUnschedulablePods}} {
		if of.from != nil {
			*of.to = time.Duration(*of.from)
		}
	}
	b := builder{name: name, scenario: s, there: map[Object]runtime.Object{}}
	for _, d := range docs {
		if err := b.add(d); err != nil {
			return nil, err
		}
	}
	if err := b.apply(); err != nil {
		return nil, err
	}
	last := time.Duration(0)
	for _, m := range s.Moments {
		last = max(last, m.At)
	}
	if s.End == 0 {
		s.End = last + defaultRest
	}
	if last > s.End {
		return nil, fmt.Errorf("%s: the scenario ends at %s, before its last moment at %s", name, s.End, last)
	}
	return s, nil
}

// builder puts a scenario together, document by document.
type builder struct {
	name      string
	scenario  *Scenario
	there     map[Object]runtime.Object // in the cluster, by what one calls it
	manifests []Document                // since the last moment
}

// add adds a document.
func (b *builder) add(d Document) error {
	switch d.Key {
	case "apiVersion", "kind", "metadata", "spec", "items", "status":
		b.manifests = append(b.manifests, d)
		return nil
	}
	if err := b.apply(); err != nil {
		return err
	}
	var m moment
	if err := d.Decode(b.name, &m); err != nil {
		return err
	}
	switch {
	case (m.At == nil) == (m.When == nil):
		return b.errorf(d.LineOf(""), "this moment needs either at: 5s or when: web-1 enters backoff")
	case m.At != nil && m.After != 0:
		return b.errorf(d.LineOf("after"), "after belongs to when: write a later at")
	case m.When != nil && m.Mark != "":
		return b.errorf(d.LineOf("mark"), "a mark needs a time that is known before: write it with at")
	case len(b.scenario.Moments) >= maxMoments:
		return b.errorf(d.Line, "there are more than %d moments", maxMoments)
	}
	for i, o := range m.Delete {
		known, ok := b.find(o)
		if !ok {
			return b.errorf(d.LineOf("delete"), "there is no %s %s to delete by then", o.Kind, short(o))
		}
		m.Delete[i] = known
		delete(b.there, known)
	}
	out := Moment{Line: d.Line, At: time.Duration(m.After), When: m.When, Mark: sources.Sanitize(m.Mark), Delete: m.Delete, Inject: m.Inject, Activate: m.Activate}
	if m.At != nil {
		out.At = time.Duration(*m.At)
	}
	b.scenario.Moments = append(b.scenario.Moments, out)
	return nil
}

// short is an object's name without the namespace that it has by default.
func short(o Object) string {
	return strings.TrimPrefix(o.NamespacedName.String(), metav1.NamespaceDefault+"/")
}

// find returns the object that o means: its kind as it is written in manifests, its namespace if it has one.
func (b *builder) find(o Object) (Object, bool) {
	for known := range b.there {
		if strings.EqualFold(known.Kind, o.Kind) && known.Name == o.Name && (known.Namespace == "" || known.Namespace == o.Namespace) {
			return known, true
		}
	}
	return o, false
}

// apply reads the manifests since the last moment, which says when they are applied.
func (b *builder) apply() error {
	if len(b.manifests) == 0 {
		return nil
	}
	// Lines above and between are left empty, so that errors have the file's.
	var text bytes.Buffer
	line := 1
	for _, d := range b.manifests {
		for ; line < d.Line-1; line++ {
			text.WriteByte('\n')
		}
		if line < d.Line {
			text.WriteString("---\n")
			line++
		}
		text.Write(d.Text)
		line += bytes.Count(d.Text, []byte("\n"))
	}
	first := b.manifests[0].Line
	b.manifests = nil
	m, err := manifest.Parse(b.name, text.Bytes())
	if err != nil {
		return err
	}
	if len(m.Notices) > 0 {
		return fmt.Errorf("%s", m.Notices[0])
	}
	for _, obj := range m.Objects {
		key := objectKey(obj)
		if pod, ok := obj.(*v1.Pod); ok {
			pod = pod.DeepCopy()
			if pod.Spec.SchedulerName == "" {
				pod.Spec.SchedulerName = v1.DefaultSchedulerName
			}
			if err := manifest.ResolvePriority(pod, b.priorityClass, b.defaultPriorityClass); err != nil {
				return b.errorf(first, "%w", err)
			}
			obj = pod
		}
		b.there[key] = obj
		if n := len(b.scenario.Moments); n > 0 {
			b.scenario.Moments[n-1].Objects = append(b.scenario.Moments[n-1].Objects, obj)
		} else {
			b.scenario.Objects = append(b.scenario.Objects, obj)
		}
	}
	return nil
}

// objectKey is what one calls obj.
func objectKey(obj runtime.Object) Object {
	m := obj.(metav1.Object)
	return Object{obj.GetObjectKind().GroupVersionKind().Kind, types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}}
}

func (b *builder) priorityClass(name string) (*schedulingv1.PriorityClass, bool) {
	c, ok := b.there[Object{"PriorityClass", types.NamespacedName{Name: name}}].(*schedulingv1.PriorityClass)
	return c, ok
}

func (b *builder) defaultPriorityClass() *schedulingv1.PriorityClass {
	var all []*schedulingv1.PriorityClass
	for _, obj := range b.there {
		if c, ok := obj.(*schedulingv1.PriorityClass); ok && c.GlobalDefault {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(a, b *schedulingv1.PriorityClass) int { return strings.Compare(a.Name, b.Name) })
}

func (b *builder) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", b.name, line, fmt.Errorf(format, args...))
}
