package live

import (
	"fmt"
	"io"
	"net/http"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/schedq/schedq/sources"
)

// clients are clients of the API groups that are read. A kubernetes.Clientset does not allow setting how responses
// are decoded.
type clients map[schema.GroupVersion]rest.Interface

// closeIdle closes idle connections, which would otherwise stay open for 90 s.
func (c clients) closeIdle() {
	for _, group := range c {
		if client, is := group.(*rest.RESTClient); is {
			utilnet.CloseIdleConnectionsFor(client.Client.Transport)
			return // the clients share one transport
		}
	}
}

func newClients(config *rest.Config, via *http.Client) (clients, error) {
	config = rest.CopyConfig(config)
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(config.QPS, config.Burst) // one for all
	config.NegotiatedSerializer = newGuarded()
	c := clients{}
	for _, group := range groups {
		config.GroupVersion, config.APIPath = &group.GroupVersion, "/apis"
		if group.Group == "" {
			config.APIPath = "/api"
		}
		client, err := rest.RESTClientForConfigAndClient(config, via)
		if err != nil {
			return nil, err
		}
		c[group.GroupVersion] = client
	}
	return c, nil
}

// core returns the client of the core group.
func (c clients) core() rest.Interface { return c[corev1.SchemeGroupVersion] }

// guarded decodes responses in JSON and protobuf without parsing quantities that take long: it replaces them with
// one that sources.Trim refuses. A real API server sends no such quantity.
type guarded struct {
	runtime.NegotiatedSerializer
	types []runtime.SerializerInfo
}

func newGuarded() *guarded {
	g := &guarded{NegotiatedSerializer: codecs.WithoutConversion()}
	shapes := &quantityPaths{byType: map[reflect.Type]*quantityPath{}}
	for _, info := range g.NegotiatedSerializer.SupportedMediaTypes() {
		switch info.MediaType {
		case runtime.ContentTypeJSON:
			info.Serializer = guardedJSON{info.Serializer}
			stream := *info.StreamSerializer
			stream.Serializer = guardedJSON{stream.Serializer} // a watch event may state the kind of a pod
			stream.Framer = boundedFramer{stream.Framer, true}
			info.StreamSerializer = &stream
		case runtime.ContentTypeProtobuf: // a watch event has no kind and no quantity
			info.Serializer = guardedProtobuf{info.Serializer, shapes}
			stream := *info.StreamSerializer
			stream.Framer = boundedFramer{stream.Framer, false}
			info.StreamSerializer = &stream
		default:
			continue
		}
		g.types = append(g.types, info)
	}
	return g
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer. Responses of other types are not decoded.
func (g *guarded) SupportedMediaTypes() []runtime.SerializerInfo { return g.types }

// maxEvent limits the size of a watch event, with the cost of its objects: see bounded. etcd stores objects of up to
// 1.5 MiB, which are several times larger in JSON.
const maxEvent = 64 << 20

// boundedFramer limits the events of a watch to maxEvent.
type boundedFramer struct {
	runtime.Framer
	json bool
}

// NewFrameReader implements runtime.Framer.
func (f boundedFramer) NewFrameReader(r io.ReadCloser) io.ReadCloser {
	event := &boundedEvent{ReadCloser: r, json: f.json}
	return &eventReader{f.Framer.NewFrameReader(event), event}
}

// boundedEvent is a watch whose events are limited to maxEvent.
type boundedEvent struct {
	io.ReadCloser
	json bool
	read int64
}

// Read implements io.Reader.
func (e *boundedEvent) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if e.read += cost(p[:n], e.json); e.read > maxEvent {
		return 0, fmt.Errorf("it is larger than %d MiB, the limit of a watch event", maxEvent>>20)
	}
	return n, err
}

// eventReader returns the events of a watch.
type eventReader struct {
	io.ReadCloser
	event *boundedEvent
}

// Read implements io.Reader. It returns no error at the end of an event.
func (r *eventReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err == nil {
		r.event.read = 0
	}
	return n, err
}

type guardedJSON struct{ runtime.Serializer }

// Decode implements runtime.Decoder.
func (d guardedJSON) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (obj runtime.Object, kind *schema.GroupVersionKind, err error) {
	err = sources.Defuse(data, func(raw []byte) error {
		if into != nil { // remove the previous content
			reflect.ValueOf(into).Elem().SetZero()
		}
		obj, kind, err = d.Serializer.Decode(raw, defaults, into)
		return err
	})
	return obj, kind, err
}

type guardedProtobuf struct {
	runtime.Serializer
	ways *quantityPaths
}

// Decode implements runtime.Decoder. It may write to data.
func (d guardedProtobuf) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if err := d.ways.defuseObject(data, known); err != nil {
		return nil, nil, err
	}
	return d.Serializer.Decode(data, defaults, into)
}
