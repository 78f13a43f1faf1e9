package live

import (
	"bytes"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources"
)

// quantityPath describes where the protobuf of a Go type contains quantities: in which fields, recursively.
type quantityPath struct {
	quantity bool            // the type is a quantity
	fields   []*quantityPath // by their numbers
}

// quantityPaths caches the quantityPath of each type. It is safe for concurrent use.
type quantityPaths struct {
	mu     sync.Mutex
	byType map[reflect.Type]*quantityPath
}

// wayOf returns the path of t, which is empty if t contains no quantity.
func (w *quantityPaths) wayOf(t reflect.Type) *quantityPath {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wayOfLocked(t)
}

// wayOfLocked is wayOf for callers that hold the lock.
func (w *quantityPaths) wayOfLocked(t reflect.Type) *quantityPath {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[quantity.Quantity]():
		return &quantityPath{quantity: true}
	case t.Kind() == reflect.Map: // its entries are messages: 1 is the key, and 2 the value
		entry := &quantityPath{}
		entry.lead(2, w.wayOfLocked(t.Elem()))
		return entry
	case t.Kind() != reflect.Struct:
		return &quantityPath{}
	}
	if known := w.byType[t]; known != nil {
		return known
	}
	known := &quantityPath{}
	w.byType[t] = known // before its fields, one of which may be of the same type
	for i := range t.NumField() {
		_, rest, _ := strings.Cut(t.Field(i).Tag.Get("protobuf"), ",") // "bytes,2,opt,name=spec"
		number, _, _ := strings.Cut(rest, ",")
		if n, err := strconv.ParseUint(number, 10, 16); err == nil {
			known.lead(int(n), w.wayOfLocked(t.Field(i).Type))
		}
	}
	return known
}

// lead adds next as the path of field n, unless it is empty.
func (w *quantityPath) lead(n int, next *quantityPath) {
	if !next.quantity && len(next.fields) == 0 {
		return
	}
	if n >= len(w.fields) {
		w.fields = append(w.fields, make([]*quantityPath, n+1-len(w.fields))...)
	}
	w.fields[n] = next
}

// errWire is returned for data that is not the protobuf of an API object.
var errWire = errors.New("a response is not the protobuf of an API object")

// defuse overwrites the quantities in message that would take long to parse: see sources.DefuseText. It refuses anything
// that is not protobuf, because the decoders may accept more.
func (w *quantityPath) defuse(message []byte) error {
	for len(message) > 0 {
		n, content, rest, err := field(message)
		if err != nil {
			return err
		}
		message = rest
		switch {
		case content == nil:
		case w.quantity && n == 1:
			sources.DefuseText(content)
		case int(n) < len(w.fields) && w.fields[n] != nil:
			if err := w.fields[n].defuse(content); err != nil {
				return err
			}
		}
	}
	return nil
}

// field returns the number of the first field of message, its content if it is a string, bytes or a message, and the
// rest of message.
func field(message []byte) (n protowire.Number, content, rest []byte, err error) {
	const short = 0x80 // a number below it is one byte
	if len(message) >= 2 && message[0] < short && message[1] < short && protowire.Type(message[0]&7) == protowire.BytesType {
		if n, end := protowire.Number(message[0]>>3), 2+int(message[1]); n > 0 && end <= len(message) {
			return n, message[2:end], message[end:], nil
		}
	}
	n, kind, size := protowire.ConsumeTag(message)
	if size < 0 {
		return 0, nil, nil, errWire
	}
	message = message[size:]
	if kind == protowire.BytesType {
		content, size = protowire.ConsumeBytes(message)
	} else {
		size = protowire.ConsumeFieldValue(n, kind, message)
	}
	if size < 0 {
		return 0, nil, nil, errWire
	}
	return n, content, message[size:], nil
}

// protobufPrefix is the prefix of the protobuf of every object with a kind. A runtime.Unknown follows, whose field 1 is a
// runtime.TypeMeta and field 2 the object.
var protobufPrefix = []byte("k8s\x00")

// defuseObject is defuse for an object with a kind.
func (w *quantityPaths) defuseObject(data []byte, create runtime.ObjectCreater) error {
	message, ok := bytes.CutPrefix(data, protobufPrefix)
	if !ok {
		return errWire
	}
	var is runtime.Unknown
	var objects [][]byte // one, unless the server is hostile
	for len(message) > 0 {
		n, content, rest, err := field(message)
		if err != nil {
			return err
		}
		message = rest
		switch {
		case content == nil:
		case n == 1:
			if err := is.TypeMeta.Unmarshal(content); err != nil {
				return errWire
			}
		case n == 2:
			objects = append(objects, content)
		}
	}
	kind := is.GroupVersionKind()
	if kind.Kind == "" || kind.Version == "" {
		return errWire // and a decoder would guess
	}
	example, err := create.New(kind)
	if err != nil {
		return err
	}
	way := w.wayOf(reflect.TypeOf(example))
	for _, object := range objects {
		if err := way.defuse(object); err != nil {
			return err
		}
	}
	return nil
}
