// Package seed reads snapshots of a cluster's objects: the output of `kubectl get -o json` or -o yaml, successive objects,
// lists of lists, the files of `kubectl cluster-info dump`, must-gather and `kwokctl snapshot`, and the records of k8shark.
// It skips objects that a scheduler does not read, and trims the others.
package seed

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/attempts"
)

// Bounds of one file.
const (
	// maxObjects is how many objects are kept: three times as many as Kubernetes has pods in a cluster.
	maxObjects = 500_000
	// maxObject is how many bytes an object may have. kube-apiserver takes 3 MiB.
	maxObject = 16 << 20
	// maxYAML is how many bytes a document in YAML may have, which takes many times as much to read as JSON.
	maxYAML = 64 << 20
	// maxNameless bounds the items of a list that says only at its end what they are.
	maxNameless = 64 << 20
)

// List is what was asked for at once: the objects that there were of some kinds, at one moment.
type List struct {
	// Source is what was asked: a path of the API, or empty where that is not known.
	Source string
	// Taken is when it was asked. Zero if that is not known.
	Taken time.Time
	// Heard is the time of the last heartbeat of a kubelet before that, by its node: every few minutes. Zero if there is no
	// node.
	Heard time.Time
	// Objects are trimmed (see sources.Trim).
	Objects []runtime.Object
	// Events are kube-scheduler's of failed attempts.
	Events []*eventsv1.Event
}

// File is the content of a file.
type File struct {
	Lists []List
	// LeftOut is how many objects could not be taken, and Cause why the first could not.
	LeftOut int
	Cause   error
}

// ErrNothing is the error about a file without objects that a scheduler reads.
var ErrNothing = errors.New("it holds no object that kube-scheduler reads")

// Sniff reports whether a file that begins with head holds objects that a scheduler reads, or a list of what may be some.
func Sniff(head []byte) bool {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	if bytes.HasPrefix(head, []byte("{")) || bytes.HasPrefix(head, []byte("[")) {
		if bytes.Contains(head, []byte(`"audit.k8s.io/`)) {
			return false
		}
		return looksNameless(head) || bytes.Contains(head, []byte(`"items"`)) || bytes.Contains(head, []byte(`"response_body"`)) || named(jsonKind, jsonVersion, head)
	}
	return yamlVersion.Match(head) && (yamlItems.Match(head) || named(yamlKind, yamlVersion, head))
}

var (
	jsonKind    = regexp.MustCompile(`"kind"\s*:\s*"(\w+)"`)
	jsonVersion = regexp.MustCompile(`"apiVersion"\s*:\s*"([\w./]+)"`)
	yamlKind    = regexp.MustCompile(`(?m)^kind:\s*"?(\w+)`)
	yamlVersion = regexp.MustCompile(`(?m)^apiVersion:\s*"?([\w./]+)`)
	yamlItems   = regexp.MustCompile(`(?m)^items:`)
	heartbeat   = regexp.MustCompile(`"lastHeartbeatTime"\s*:\s*"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"`)
)

// named reports whether head has a kind that a scheduler reads, or that of a list.
func named(kind, version *regexp.Regexp, head []byte) bool {
	versions := version.FindAllSubmatch(head, 50)
	for _, k := range kind.FindAllSubmatch(head, 50) {
		if strings.HasSuffix(string(k[1]), "List") {
			return true
		}
		for _, v := range versions {
			if sources.NewObject(string(v[1]), string(k[1])) != nil {
				return true
			}
		}
	}
	return false
}

// Read reads a file. It calls keep, unless nil, with about how many bytes of memory an object takes, and returns its error. Any
// other error is one sentence without the file's name: it holds nothing that a scheduler reads, or is out of all proportion.
func Read(from io.Reader, keep func(bytes int) error) (*File, error) {
	r := &reader{decoder: sources.NewDecoder(), file: &File{Lists: []List{{}}}}
	if keep != nil {
		r.decoder.Keep = func(bytes int) { r.over = cmp.Or(r.over, keep(bytes+sources.CostEntry)) }
	}
	in := bufio.NewReaderSize(from, 1<<16)
	var err error
	switch first, e := firstByte(in); {
	case e != nil:
		err = e
	case first == '{', first == '[':
		err = r.json(&withoutLogs{from: in})
	default:
		err = r.yaml(in)
	}
	if err != nil {
		return nil, err
	}
	if r.count == 0 && r.file.LeftOut > 0 {
		return nil, fmt.Errorf("no object in it can be read: %w", r.file.Cause)
	}
	if r.count == 0 {
		return nil, ErrNothing
	}
	return r.file, nil
}

// firstByte returns the first byte that is not blank, which stays unread.
func firstByte(in *bufio.Reader) (byte, error) {
	for {
		b, err := in.Peek(1)
		switch {
		case err == io.EOF:
			return 0, errors.New("it is empty")
		case err != nil:
			return 0, err
		case bytes.IndexByte([]byte(" \t\r\n"), b[0]) < 0:
			return b[0], nil
		}
		_, _ = in.Discard(1)
	}
}

// reader reads objects from a file.
type reader struct {
	decoder *sources.Decoder
	file    *File
	count   int
	over    error // too much is kept
}

// list is the list that objects are added to.
func (r *reader) list() *List { return &r.file.Lists[len(r.file.Lists)-1] }

// add adds an object, or the items of a list.
func (r *reader) add(raw []byte) error {
	if e := attempts.Decode(raw); e != nil {
		if r.count++; r.count > maxObjects {
			return fmt.Errorf("it holds more than %d objects", maxObjects)
		}
		if r.decoder.Keep != nil {
			r.decoder.Keep(sources.CostEntry)
		}
		r.list().Events = append(r.list().Events, e)
		return r.over
	}
	obj, err := r.decoder.Decode(raw)
	switch {
	case err != nil:
		r.leaveOut(err)
	case obj != nil:
		if r.count++; r.count > maxObjects {
			return fmt.Errorf("it holds more than %d objects", maxObjects)
		}
		r.list().Objects = append(r.list().Objects, obj)
		if _, is := obj.(*corev1.Node); is {
			r.noteHeartbeats(raw)
		}
	}
	return r.over
}

// noteHeartbeats records the time of a kubelet's heartbeat.
func (r *reader) noteHeartbeats(node []byte) {
	for _, t := range heartbeat.FindAllSubmatch(node, -1) {
		if at, err := time.Parse(time.RFC3339, string(t[1])); err == nil && sources.CheckTime(at) == nil && at.After(r.list().Heard) {
			r.list().Heard = at.UTC()
		}
	}
}

func (r *reader) leaveOut(err error) {
	if r.file.LeftOut++; r.file.Cause == nil {
		r.file.Cause = err
	}
}

// item adds an item of a list of that kind: items from an API server have no kind.
func (r *reader) item(raw []byte, version, kind string) error {
	var own metav1.TypeMeta
	if err := json.Unmarshal(raw, &own); err != nil {
		r.leaveOut(fmt.Errorf("an item of a list is no object: %s", sources.Sanitize(err.Error())))
		return nil
	}
	if strings.HasSuffix(own.Kind, "List") { // of a List of lists
		return r.document(raw)
	}
	if own.Kind == "" && len(raw) > 1 {
		of, _ := strings.CutSuffix(kind, "List")
		if of == "" {
			return r.nameless(raw)
		}
		if of != "Event" && sources.NewObject(version, of) == nil {
			return nil
		}
		raw = withKind(raw, version, of)
	}
	return r.add(raw)
}

// document adds an object or a list that is in memory.
func (r *reader) document(raw []byte) error {
	var d struct {
		metav1.TypeMeta
		Items *[]json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		r.leaveOut(errors.New("a document in it is no object"))
		return nil
	}
	if d.Items == nil && d.Kind == "" {
		return r.nameless(raw)
	}
	if d.Items == nil {
		return r.add(raw)
	}
	for _, item := range *d.Items {
		if err := r.item(item, d.APIVersion, d.Kind); err != nil {
			return err
		}
	}
	return nil
}
