package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/randfill"
)

func decoder(t testing.TB, mediaType string) runtime.Decoder {
	info, ok := runtime.SerializerInfoForMediaType(newGuarded().SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatal("no decoder of", mediaType)
	}
	return info.Serializer
}

func inProtobuf(t testing.TB, obj runtime.Object) []byte {
	var b bytes.Buffer
	if err := protobuf.NewSerializer(known, known).Encode(obj, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// quantitiesIn counts the quantities in v, and those among them that stand for one that is refused.
func quantitiesIn(v reflect.Value) (all, defused int) {
	add := func(v reflect.Value) {
		a, d := quantitiesIn(v)
		all, defused = all+a, defused+d
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			add(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			add(v.Index(i))
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			add(it.Value())
		}
	case reflect.Struct:
		if q, ok := v.Interface().(quantity.Quantity); ok {
			if q.AsApproximateFloat64() > 1e30 {
				return 1, 1
			}
			return 1, 0
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				add(v.Field(i))
			}
		}
	}
	return all, defused
}

// TestEveryQuantityIsFound: in the protobuf of every kind that client-go knows, filled at random, no quantity is
// missed.
func TestEveryQuantityIsFound(t *testing.T) {
	const stands, endless = "98765432101", "1e-99999999"
	d := decoder(t, runtime.ContentTypeProtobuf)
	fill := randfill.New().RandSource(rand.NewSource(1)).NilChance(0).NumElements(1, 1).MaxDepth(40).Funcs(
		func(q *quantity.Quantity, _ randfill.Continue) { *q = quantity.MustParse(stands) },
		func(s *string, _ randfill.Continue) { *s = "1e99999" },
		func(*metav1.Time, randfill.Continue) {}, func(*metav1.MicroTime, randfill.Continue) {},
		func(*metav1.FieldsV1, randfill.Continue) {}, func(*runtime.RawExtension, randfill.Continue) {},
	)
	holding := 0
	for kind := range known.AllKnownTypes() {
		obj, err := known.New(kind)
		if _, ok := obj.(runtime.ProtobufMarshaller); err != nil || !ok || kind.Version == runtime.APIVersionInternal {
			continue
		}
		fill.Fill(obj)
		obj.GetObjectKind().SetGroupVersionKind(kind)
		want, _ := quantitiesIn(reflect.ValueOf(obj))
		if want == 0 {
			continue
		}
		holding++
		raw := bytes.ReplaceAll(inProtobuf(t, obj), []byte(stands), []byte(endless))
		if err := (&quantityPaths{byType: map[reflect.Type]*quantityPath{}}).defuseObject(raw, known); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if n := bytes.Count(raw, []byte(endless)); n > 0 {
			t.Errorf("%s: %d quantities of %d are missed", kind, n, want)
			continue
		}
		got, _, err := d.Decode(raw, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if all, defused := quantitiesIn(reflect.ValueOf(got)); all == 0 || defused != all {
			t.Errorf("%s: %d quantities of %d are replaced", kind, defused, all)
		}
		if !strings.Contains(fmt.Sprint(got), "1e99999") {
			t.Errorf("%s: the texts are replaced, too", kind)
		}
	}
	if holding < 30 {
		t.Errorf("only %d kinds hold quantities", holding)
	}
}

// TestHostileAnswersEnd: an object with a quantity that takes minutes to parse, where nobody expects one, is
// decoded at once: in place of a review's answer, of an error, of an event.
func TestHostileAnswersEnd(t *testing.T) {
	const hostile = `{"kind":"Pod","apiVersion":"v1","spec":{"overhead":{"cpu":"1e-99999999","memory":1e2147483648}}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if req.URL.Path == "/version" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		if req.URL.Query().Get("watch") != "" {
			fmt.Fprintln(w, hostile)
			return
		}
		fmt.Fprint(w, hostile)
	}))
	t.Cleanup(server.Close)
	s, err := New(&rest.Config{Host: server.URL}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, request := range map[string]func(){
		"error": func() {
			if s.ask(t.Context()) == nil {
				t.Error("an error is none")
			}
		},
		"review": func() {
			if may, _ := s.May(t.Context(), authorizationv1.ResourceAttributes{}); may {
				t.Error("a pod allows something")
			}
		},
		"event": func() {
			w, err := s.client.core().Get().Resource(pods).VersionedParams(&metav1.ListOptions{Watch: true}, parameters).Watch(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Stop()
			for e := range w.ResultChan() {
				if e.Type != watch.Error {
					t.Errorf("a pod is an event: %v", e)
				}
			}
		},
	} {
		ended := make(chan struct{})
		go func() { request(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: it does not end", name)
		}
	}
}

// TestTextsLikeQuantities: what looks like a quantity that is refused, and is none, is taken as it is.
func TestTextsLikeQuantities(t *testing.T) {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "1e99999",
		Annotations: map[string]string{"note": strings.Repeat("1", 1000), "101": "1e9999 " + strings.Repeat("x", 94)}}}
	text, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	for mediaType, raw := range map[string][]byte{runtime.ContentTypeJSON: text, runtime.ContentTypeProtobuf: inProtobuf(t, pod)} {
		got, _, err := decoder(t, mediaType).Decode(raw, nil, nil)
		if err != nil || !reflect.DeepEqual(got, pod) {
			t.Errorf("%s: %v, %v", mediaType, got, err)
		}
	}
}

// TestOtherEncodingsAreRefused: what nothing guards is not decoded, YAML for one.
func TestOtherEncodingsAreRefused(t *testing.T) {
	for _, info := range newGuarded().SupportedMediaTypes() {
		if info.MediaType != runtime.ContentTypeJSON && info.MediaType != runtime.ContentTypeProtobuf {
			t.Errorf("%s is decoded", info.MediaType)
		}
	}
	d := decoder(t, runtime.ContentTypeProtobuf)
	for name, raw := range map[string]string{
		"nothing": "", "no prefix": "abc", "no kind": "k8s\x00", "a length beyond the end": "k8s\x00\x0a\x7f",
		"a number that is too long": "k8s\x00\x08" + strings.Repeat("\xff", 20),
	} {
		if _, _, err := d.Decode([]byte(raw), nil, nil); err != errWire {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzProtobuf: whatever comes as protobuf ends at once, in an object or in an error.
func FuzzProtobuf(f *testing.F) {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, Spec: corev1.PodSpec{Overhead: corev1.ResourceList{"cpu": quantity.MustParse("98765432101")}}}
	raw := inProtobuf(f, pod)
	f.Add(raw)
	f.Add(bytes.ReplaceAll(raw, []byte("98765432101"), []byte("1e-99999999")))
	d := decoder(f, runtime.ContentTypeProtobuf)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if obj, _, err := d.Decode(raw, nil, nil); err == nil {
			_, _ = quantitiesIn(reflect.ValueOf(obj))
		}
	})
}

// BenchmarkDecode decodes a page of a list: 500 pods.
func BenchmarkDecode(b *testing.B) {
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
	room := corev1.ResourceList{"cpu": quantity.MustParse("500m"), "memory": quantity.MustParse("2Gi")}
	for i := range 500 {
		c := corev1.Container{Name: "c", Image: "registry.example.org/app:1.2.3", Args: []string{"--listen=:8080", "--v=2"}, Resources: corev1.ResourceRequirements{Requests: room, Limits: room},
			Env: []corev1.EnvVar{{Name: "POD", Value: "x"}, {Name: "MODE", Value: "production"}}}
		list.Items = append(list.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("web-7d4b9c6f5-%05d", i), UID: "4e123456-1e12-1234-4444-12e123456789",
			Labels: map[string]string{"app": "web", "pod-template-hash": "7d4b9c6f5"}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1("{" + strings.Repeat(`"f:status":{"f:conditions":{}},`, 60) + `"f:spec":{}}`)}}},
			Spec: corev1.PodSpec{NodeName: "n-1", SchedulerName: "default-scheduler", Containers: []corev1.Container{c, c}}})
	}
	text, err := json.Marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range []struct {
		mediaType string
		raw       []byte
	}{{runtime.ContentTypeProtobuf, inProtobuf(b, list)}, {runtime.ContentTypeJSON, text}} {
		plain, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), e.mediaType)
		for name, d := range map[string]runtime.Decoder{"plain": plain.Serializer, "guarded": decoder(b, e.mediaType)} {
			b.Run(e.mediaType+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(e.raw)))
				for b.Loop() {
					if _, _, err := d.Decode(e.raw, nil, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
