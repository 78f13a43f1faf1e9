package watched

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/manifest"
	"github.com/schedq/schedq/sources/objects"
)

// KwokFormat is the format's name in sources.Recording.
const KwokFormat = "kwok"

// maxDocument limits the size of a document, in bytes. kube-apiserver accepts 3 MiB of JSON.
const maxDocument = 16 << 20

// kwokBegan is the assumed start of a kwok recording, which does not contain it.
var kwokBegan = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// offset matches a time in a kwok recording, relative to its start.
var offset = regexp.MustCompile(`\$\(time-offset-nanosecond (-?\d{1,19})\)`)

// SniffKwok reports whether a file's beginning is that of a kwok recording (sigs.k8s.io/kwok v0.7,
// pkg/kwokctl/recording, pkg/apis/action/v1alpha1): documents in YAML, objects and ResourcePatches, in which times are offsets.
func SniffKwok(head []byte) bool {
	return bytes.Contains(head, []byte("$(time-offset-nanosecond ")) && bytes.Contains(head, []byte("apiVersion:")) ||
		bytes.Contains(head, []byte("kind: ResourcePatch")) && bytes.Contains(head, []byte("action.kwok.x-k8s.io/"))
}

// kwok reads documents.
type kwok struct {
	reader
	objects map[key]runtime.Object
	at      time.Time // of the last patch
	doc     []byte
}

// ReadKwok reads a kwok recording to its end, as Read does. Its times start at the beginning of the year 2000.
func ReadKwok(r *lines.Reader) (*sources.Part, error) {
	k := &kwok{reader: newReader(r, KwokFormat), objects: map[key]runtime.Object{}, at: kwokBegan}
	for {
		line, err := r.Next()
		if err != nil && err != io.EOF {
			return nil, err
		}
		if err == io.EOF || bytes.Equal(bytes.TrimRight(line, " \t\r"), []byte("---")) {
			if err := k.document(); err != nil {
				return nil, err
			}
		} else if k.doc = append(append(k.doc, line...), '\n'); len(k.doc) > maxDocument {
			return nil, r.Errorf("a document of more than %d MiB", maxDocument>>20)
		}
		if err == io.EOF {
			break
		}
	}
	part, err := k.finish()
	if err == nil && len(part.Events) > 0 {
		part.Notices = append(part.Notices, fmt.Sprintf("%s: kwok does not record when it began: the times count from %s UTC",
			r.Name(), kwokBegan.Format(time.DateTime)))
	}
	return part, err
}

// document reads a document.
func (k *kwok) document() error {
	doc := k.doc
	k.doc = k.doc[:0]
	if len(bytes.TrimSpace(doc)) == 0 {
		return nil
	}
	raw, err := manifest.ObjectJSON(offset.ReplaceAllFunc(doc, absolute))
	if err != nil {
		return k.lines.Unread(err)
	}
	var head struct{ Kind string }
	if err := json.Unmarshal(raw, &head); err != nil {
		return k.lines.Unread(errors.New("the document is no object"))
	}
	if head.Kind == "ResourcePatch" {
		return k.patch(raw)
	}
	return k.object(kwokBegan, raw)
}

// absolute returns the time of an offset.
func absolute(text []byte) []byte {
	n, err := strconv.ParseInt(string(offset.FindSubmatch(text)[1]), 10, 64)
	if err != nil {
		return text
	}
	return kwokBegan.Add(time.Duration(n)).AppendFormat(nil, time.RFC3339Nano)
}

// object records the state of an object from that time on.
func (k *kwok) object(at time.Time, raw []byte) error {
	obj, err := k.decoder.Decode(raw)
	if err != nil {
		_, named := sources.Identity(raw)
		return k.lines.SkipChange(named, err)
	}
	if obj == nil {
		return nil
	}
	k.part.Saw(at)
	k.put(at, obj)
	return k.checkCount()
}

func (k *kwok) put(at time.Time, obj runtime.Object) {
	m := obj.(metav1.Object)
	k.objects[key{obj.GetObjectKind().GroupVersionKind().Kind, m.GetNamespace(), m.GetName()}] = obj
	k.change(at, false, obj)
}

// resourcePatch is a change of an object.
type resourcePatch struct {
	Resource struct{ Group, Resource string }
	Target   struct{ Namespace, Name string }
	// DurationNanosecond is the time since the start of the recording.
	DurationNanosecond time.Duration
	Method             string
	Template           json.RawMessage
}

// patch reads a change of an object.
func (k *kwok) patch(raw []byte) error {
	var p resourcePatch
	if err := json.Unmarshal(raw, &p); err != nil {
		return k.lines.Unread(errors.New("the ResourcePatch can't be decoded"))
	}
	kind := objects.KindOf(p.Resource.Group, p.Resource.Resource)
	at := kwokBegan.Add(p.DurationNanosecond)
	if err := sources.CheckTime(at); err != nil {
		return k.lines.Unread(err)
	}
	if kind.Name == "" {
		return nil
	}
	k.part.Saw(at)
	if !k.began {
		k.attached() // patches follow the initial objects
	}
	id := key{kind.Name, p.Target.Namespace, p.Target.Name}
	old := k.objects[id]
	switch {
	case p.Method == "create":
		return k.object(at, p.Template)
	case p.Method != "patch" && p.Method != "delete":
		return k.lines.Unread(fmt.Errorf("there is no method %q", sources.Sanitize(p.Method)))
	case old == nil: // the object was skipped or is irrelevant
		return nil
	case p.Method == "delete":
		delete(k.objects, id)
		k.change(at, true, bare(old, old.(metav1.Object).GetUID()))
		return k.checkCount()
	}
	// Different requests write the status and the rest; kwok records their sum.
	for _, subresource := range []string{"", "status"} {
		asked, ok := objects.NewRequest("patch", subresource, nil, p.Template)
		if !ok {
			continue
		}
		now, err := asked.Apply(old, k.decoder)
		if err != nil {
			return k.lines.SkipChange(sources.Named(kind.Name, id.namespace, id.name), err)
		}
		if now != nil {
			old = now
		}
	}
	if old == k.objects[id] {
		return nil // nothing that the scheduler reads
	}
	k.put(at, old)
	return k.checkCount()
}
