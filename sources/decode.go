package sources

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources/apijson"
)

// Bounds of one object's JSON. etcd takes 1.5 MiB and kube-apiserver 3 MiB, so a real object never meets
// them; they keep a hostile one from growing a thousandfold in memory.
const (
	maxObject      = 4 << 20 // bytes
	maxObjectParts = 200_000 // commas: members and elements
)

// maxRemembered limits the pods whose spec a Decoder remembers.
const maxRemembered = 200_000

// Decoder decodes and trims objects. It shares a pod's spec with the previous state of the pod while that does not
// change, which saves more than half of the time and memory, because a spec rarely changes. A Decoder is not safe for
// concurrent use.
type Decoder struct {
	// Keep, if set, is called with about the bytes of memory of each decoded object.
	Keep func(bytes int)

	seed  maphash.Seed
	pods  map[types.UID]podSpec
	texts *apijson.Decoder
	text  []byte // used over and over
}

type podSpec struct {
	hash uint64
	spec *corev1.PodSpec
}

// NewDecoder returns a Decoder.
func NewDecoder() *Decoder {
	return &Decoder{seed: maphash.MakeSeed(), pods: map[types.UID]podSpec{},
		texts: apijson.New(func(raw []byte, into any) error { return decode(raw, "part", into) })}
}

// Forget drops the shared spec of a deleted pod.
func (d *Decoder) Forget(uid types.UID) { delete(d.pods, uid) }

// Decode decodes the JSON of an object and trims it (see Trim). It returns nil and no error if kube-scheduler does not
// watch its kind. Errors do not contain the file and the line.
func (d *Decoder) Decode(raw []byte) (runtime.Object, error) {
	if len(raw) > maxObject {
		return nil, fmt.Errorf("an object has %d bytes, and the limit is %d", len(raw), maxObject)
	}
	e, err := Open(raw)
	if err != nil {
		return nil, err
	}
	return d.DecodeOpened(e)
}

// DecodeOpened is Decode for a text that was opened already.
func (d *Decoder) DecodeOpened(e *Envelope) (runtime.Object, error) {
	if len(e.raw) > maxObject {
		return nil, fmt.Errorf("an object has %d bytes, and the limit is %d", len(e.raw), maxObject)
	}
	obj := NewObject(e.APIVersion, e.Kind)
	if obj == nil {
		return nil, nil
	}
	if e.Metadata == nil || e.Metadata[0] != '{' {
		return nil, fmt.Errorf("a %s has no metadata", e.Kind)
	}
	switch o := obj.(type) {
	case *corev1.Pod:
		return d.pod(e, o)
	case *corev1.Node:
		if d.isUsualNode(e, o) {
			return d.keep(checked(o))
		}
		*o = corev1.Node{TypeMeta: o.TypeMeta}
	}
	if err := decodeAs(d.without(e.raw, e.managed), e.Kind, obj); err != nil {
		return nil, err
	}
	return d.keep(trimmed(obj))
}

// pod decodes a pod: into pod, which is empty but for its kind, unless it has to be read as any other object.
func (d *Decoder) pod(e *Envelope, pod *corev1.Pod) (runtime.Object, error) {
	cuts := e.managed
	var known podSpec
	if len(e.uid) > 0 && e.Spec != nil {
		known.hash = maphash.Bytes(d.seed, e.Spec)
		if before := d.pods[types.UID(e.uid)]; before.spec != nil && before.hash == known.hash {
			known = before
			cuts = append(slices.Clip(cuts), e.Spec)
		}
	}
	var kept runtime.Object
	var err error
	if d.isUsual(e, pod, known.spec != nil) {
		kept, err = d.keep(checked(pod))
	} else {
		*pod = corev1.Pod{TypeMeta: pod.TypeMeta}
		if err := decodeAs(d.without(e.raw, cuts), e.Kind, pod); err != nil {
			return nil, err
		}
		kept, err = d.keep(trimmed(pod))
	}
	if err != nil {
		return nil, err
	}
	pod = kept.(*corev1.Pod)
	switch {
	case known.spec != nil:
		pod.Spec = *known.spec
	case known.hash != 0:
		if len(d.pods) >= maxRemembered {
			clear(d.pods)
		}
		known.spec = &pod.Spec
		d.pods[types.UID(e.uid)] = known
	}
	return pod, nil
}

// isUsual decodes a pod, trimmed, and reports whether its text is as kube-apiserver writes it; else part of the pod is
// decoded.
func (d *Decoder) isUsual(e *Envelope, pod *corev1.Pod, specKnown bool) bool {
	if e.twice || !d.meta(e, &pod.ObjectMeta) || e.status != nil && !d.texts.Status(e.status, &pod.Status) {
		return false
	}
	if specKnown || e.Spec == nil {
		return true
	}
	if !d.texts.Spec(e.Spec, &pod.Spec) {
		return false
	}
	pod.Spec.Volumes = trimVolumes(pod.Spec.Volumes)
	return true
}

// isUsualNode is isUsual for a node.
func (d *Decoder) isUsualNode(e *Envelope, node *corev1.Node) bool {
	if e.twice || !d.meta(e, &node.ObjectMeta) || e.Spec != nil && !d.texts.NodeSpec(e.Spec, &node.Spec) ||
		e.status != nil && !d.texts.NodeStatus(e.status, &node.Status) {
		return false
	}
	node.Status.Images = node.Status.Images[:min(len(node.Status.Images), maxImages)]
	return true
}

// meta decodes the metadata of what isUsual is asked about.
func (d *Decoder) meta(e *Envelope, m *metav1.ObjectMeta) bool {
	var managed []byte
	if len(e.managed) > 0 {
		managed = e.managed[0]
	}
	return d.texts.Meta(e.Metadata, managed, m)
}

// keep counts the memory of an object.
func (d *Decoder) keep(kept runtime.Object, size int, err error) (runtime.Object, error) {
	if err == nil && d.Keep != nil {
		d.Keep(costObject + 2*size)
	}
	return kept, err
}

// without returns raw with null in place of some of its values.
func (d *Decoder) without(raw []byte, cuts [][]byte) []byte {
	if len(cuts) == 0 {
		return raw
	}
	// They are parts of raw, so their positions follow from their capacities.
	at := func(cut []byte) int { return cap(raw) - cap(cut) }
	slices.SortFunc(cuts, func(a, b []byte) int { return at(a) - at(b) })
	d.text = d.text[:0]
	from := 0
	for _, cut := range cuts {
		if at(cut) < from {
			continue // within the one before
		}
		d.text = append(append(d.text, raw[from:at(cut)]...), "null"...)
		from = at(cut) + len(cut)
	}
	d.text = append(d.text, raw[from:]...)
	return d.text
}

// decodeAs decodes JSON whose size is bounded into an object, whose kind stays.
func decodeAs(raw []byte, kind string, into runtime.Object) error {
	gvk := into.GetObjectKind().GroupVersionKind()
	if err := decode(raw, kind, into); err != nil {
		return err
	}
	into.GetObjectKind().SetGroupVersionKind(gvk)
	return nil
}

// decode decodes JSON whose size is bounded.
func decode(raw []byte, kind string, into any) error {
	if bytes.Count(raw, []byte(",")) > maxObjectParts {
		return fmt.Errorf("a %s has more than %d parts", kind, maxObjectParts)
	}
	return Guard(raw, "a "+string(Sanitize(kind)), func(raw []byte) error {
		reflect.ValueOf(into).Elem().SetZero()
		if err := json.Unmarshal(raw, into); err != nil {
			return fmt.Errorf("a %s cannot be decoded: %s", kind, Sanitize(err.Error()))
		}
		return nil
	})
}
