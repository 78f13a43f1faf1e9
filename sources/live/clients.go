package live

import (
	"net/http"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/schedq/schedq/sources"
)

// clients are for the groups of the API that are read. They are like those of a kubernetes.Clientset, which
// lets nobody say how answers are decoded.
type clients map[schema.GroupVersion]rest.Interface

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

// core returns the client of pods, and of what else has no group.
func (c clients) core() rest.Interface { return c[corev1.SchemeGroupVersion] }

// guarded decodes what an API server sends, JSON and protobuf, but parses no quantity that takes long: one that
// sources.Trim refuses is decoded in its place. A real API server sends no such quantity.
type guarded struct {
	runtime.NegotiatedSerializer
	types []runtime.SerializerInfo
}

func newGuarded() *guarded {
	g := &guarded{NegotiatedSerializer: codecs.WithoutConversion()}
	shapes := &ways{byType: map[reflect.Type]*way{}}
	for _, info := range g.NegotiatedSerializer.SupportedMediaTypes() {
		switch info.MediaType {
		case runtime.ContentTypeJSON:
			info.Serializer = guardedJSON{info.Serializer}
			stream := *info.StreamSerializer
			stream.Serializer = guardedJSON{stream.Serializer} // an event may say that it is a pod
			info.StreamSerializer = &stream
		case runtime.ContentTypeProtobuf: // an event says no kind, and holds no quantity
			info.Serializer = guardedProtobuf{info.Serializer, shapes}
		default:
			continue
		}
		g.types = append(g.types, info)
	}
	return g
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer: what comes as anything else is not decoded.
func (g *guarded) SupportedMediaTypes() []runtime.SerializerInfo { return g.types }

type guardedJSON struct{ runtime.Serializer }

// Decode implements runtime.Decoder.
func (d guardedJSON) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (obj runtime.Object, kind *schema.GroupVersionKind, err error) {
	err = sources.Defuse(data, func(raw []byte) error {
		if into != nil { // nothing is left there of the time before
			reflect.ValueOf(into).Elem().SetZero()
		}
		obj, kind, err = d.Serializer.Decode(raw, defaults, into)
		return err
	})
	return obj, kind, err
}

type guardedProtobuf struct {
	runtime.Serializer
	ways *ways
}

// Decode implements runtime.Decoder. It may write to data.
func (d guardedProtobuf) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if err := d.ways.defuseObject(data, known); err != nil {
		return nil, nil, err
	}
	return d.Serializer.Decode(data, defaults, into)
}
