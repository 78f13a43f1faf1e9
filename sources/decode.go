package sources

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources/jsonscan"
)

// Bounds of one object's JSON. etcd takes 1.5 MiB and kube-apiserver 3 MiB, so a real object never meets
// them; they keep a hostile one from growing a thousandfold in memory.
const (
	maxObject      = 4 << 20 // bytes
	maxObjectParts = 200_000 // commas: members and elements
)

// maxRemembered is of how many pods a Decoder remembers the specification.
const maxRemembered = 200_000

// Decoder decodes and trims objects. Of a pod that it decoded before, it shares the specification as
// long as that does not change, and it hardly ever does: that saves more than half of the time and of
// the memory. A Decoder is not safe for concurrent use.
type Decoder struct {
	// Keep is told about how many bytes of memory a decoded object takes, if it is set.
	Keep func(bytes int)

	seed maphash.Seed
	pods map[types.UID]podSpec
	text []byte // used over and over
}

type podSpec struct {
	hash uint64
	spec *corev1.PodSpec
}

// NewDecoder returns a Decoder that has seen nothing yet.
func NewDecoder() *Decoder {
	return &Decoder{seed: maphash.MakeSeed(), pods: map[types.UID]podSpec{}}
}

// Forget forgets what is shared of the pod with that UID, which is gone.
func (d *Decoder) Forget(uid types.UID) { delete(d.pods, uid) }

// Decode reads the JSON of an object and trims it (see Trim). It returns nil and no error if its kind is
// not one that kube-scheduler watches. An error is one sentence, without the file and the line.
func (d *Decoder) Decode(raw []byte) (runtime.Object, error) {
	if len(raw) > maxObject {
		return nil, fmt.Errorf("an object has %d bytes, and the limit is %d", len(raw), maxObject)
	}
	var apiVersion, kind string
	var metadata, spec []byte
	if err := jsonscan.Members(raw, func(name, value []byte) bool {
		switch string(name) {
		case "apiVersion":
			apiVersion = string(jsonscan.Text(value))
		case "kind":
			kind = string(jsonscan.Text(value))
		case "metadata":
			metadata = value
		case "spec":
			spec = value
		}
		return true
	}); err != nil {
		return nil, err
	}
	obj := NewObject(apiVersion, kind)
	if obj == nil {
		return nil, nil
	}
	gvk := obj.GetObjectKind().GroupVersionKind()

	var uid types.UID
	var cuts [][]byte
	if err := jsonscan.Members(metadata, func(name, value []byte) bool {
		switch string(name) {
		case "managedFields": // half of the object, and dropped anyway
			cuts = append(cuts, value)
		case "uid":
			uid = types.UID(jsonscan.Text(value))
		}
		return true
	}); err != nil {
		return nil, fmt.Errorf("a %s has no metadata", kind)
	}
	pod, _ := obj.(*corev1.Pod)
	var known podSpec
	if pod != nil && uid != "" && spec != nil {
		known.hash = maphash.Bytes(d.seed, spec)
		if before := d.pods[uid]; before.spec != nil && before.hash == known.hash {
			known = before
			cuts = append(cuts, spec)
		}
	}
	if err := decode(d.without(raw, cuts), kind, obj); err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	kept, size, err := trimmed(obj)
	if err == nil && d.Keep != nil {
		d.Keep(costObject + 2*size)
	}
	if err != nil || pod == nil {
		return kept, err
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
		d.pods[uid] = known
	}
	return pod, nil
}

// without returns raw with null in place of some of its values.
func (d *Decoder) without(raw []byte, cuts [][]byte) []byte {
	if len(cuts) == 0 {
		return raw
	}
	// They are parts of raw, so their capacities tell where.
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

// decode decodes JSON whose size is bounded.
func decode(raw []byte, kind string, into runtime.Object) error {
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
