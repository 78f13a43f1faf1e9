package sources

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
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
	maxDigits      = 100     // of one number
)

// maxRemembered is of how many pods a Decoder remembers the specification.
const maxRemembered = 200_000

// Decoder decodes and trims objects. Of a pod that it decoded before, it shares the specification as
// long as that does not change, and it hardly ever does: that saves more than half of the time and of
// the memory. A Decoder is not safe for concurrent use.
type Decoder struct {
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
	trimmed, err := Trim(obj)
	if err != nil || pod == nil {
		return trimmed, err
	}
	pod = trimmed.(*corev1.Pod)
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
	if bad := badNumber(raw); bad != "" {
		return fmt.Errorf("a %s holds a number out of range: %s", kind, Sanitize(bad))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("a %s cannot be decoded: %s", kind, Sanitize(err.Error()))
	}
	return nil
}

// badNumber returns a number in raw that resource.ParseQuantity would take minutes over ("1e-99999999",
// or a million digits), or "". It looks at the text, because parsing is what must not happen. Large
// positive exponents parse at once; Trim refuses them.
func badNumber(raw []byte) string {
	for i := maxDigits; i < len(raw); i += maxDigits {
		if !isDigit(raw[i]) {
			continue
		}
		from, to := i, i
		for from > 0 && isDigit(raw[from-1]) {
			from--
		}
		for to < len(raw) && isDigit(raw[to]) {
			to++
		}
		if to-from > maxDigits {
			return string(raw[from:from+20]) + "..."
		}
	}
	for rest, at := raw, 0; ; {
		i := bytes.Index(rest, []byte("-"))
		if i < 0 {
			break
		}
		at += i + 1
		rest = raw[at:]
		if n := negativeExponent(raw, at-1); n != "" {
			return n
		}
	}
	// Nobody escapes digits or letters, except to get past the test above.
	for rest := raw; ; {
		i := bytes.Index(rest, []byte(`\u00`))
		if i < 0 || len(rest) < i+6 {
			return ""
		}
		switch hi, lo := rest[i+4], rest[i+5]|0x20; {
		case hi == '3' && isDigit(lo), (hi == '4' || hi == '6') && lo == '5', hi == '2' && (lo == 'd' || lo == 'e'):
			return string(rest[i : i+6])
		}
		rest = rest[i+6:]
	}
}

// negativeExponent returns the number around the '-' at raw[i] if it is one with a negative exponent of
// three digits or more and nothing else is in its string: "1e-4096", and not a part of a UUID.
func negativeExponent(raw []byte, i int) string {
	if i == 0 || raw[i-1]|0x20 != 'e' {
		return ""
	}
	to := i + 1
	for to < len(raw) && isDigit(raw[to]) {
		to++
	}
	if to-i-1 < 3 || to < len(raw) && !bytes.ContainsRune([]byte("\" \t\\,]}"), rune(raw[to])) {
		return ""
	}
	from := i - 1
	for from > 0 && (isDigit(raw[from-1]) || raw[from-1] == '.') {
		from--
	}
	if from > 0 && (raw[from-1] == '-' || raw[from-1] == '+') {
		from--
	}
	if from > 0 && !bytes.ContainsRune([]byte("\" \t:,[nrt"), rune(raw[from-1])) {
		return ""
	}
	return string(raw[from:min(to, from+20)])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
