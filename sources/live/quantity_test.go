package live_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/schedq/schedq/sources/live"
)

// A quantity that takes minutes to parse, and one that stands for it where answers are made: no encoder
// writes the first.
const (
	endless = "1e-99999999"
	stands  = "98765432101"
)

// withQuantity is a pod whose overhead is a quantity, and whose labels are texts like one.
func withQuantity(name, quantity string) *corev1.Pod {
	p := pod(name, "")
	p.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	p.UID, p.ResourceVersion = "4e123456-1e-1234-4444-5555-12e123456789", "7"
	p.Labels = map[string]string{"size": "1e99999", "n": strings.Repeat("1", 63)}
	p.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse(quantity)}
	return p
}

// encoding is how a server answers.
type encoding struct {
	mediaType string
	object    func(runtime.Object) []byte
	event     func(kind string, object []byte) []byte
}

func encodings(t testing.TB) []encoding {
	fatal := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	asJSON := func(obj any) []byte {
		text, err := json.Marshal(obj)
		fatal(err)
		return text
	}
	return []encoding{{
		"application/json",
		func(obj runtime.Object) []byte { return asJSON(obj) },
		func(kind string, object []byte) []byte {
			return asJSON(metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: object}})
		},
	}, {
		"application/vnd.kubernetes.protobuf",
		func(obj runtime.Object) []byte {
			var b bytes.Buffer
			fatal(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(obj, &b))
			return b.Bytes()
		},
		func(kind string, object []byte) []byte {
			raw, err := (&metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: object}}).Marshal()
			fatal(err)
			return append(binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw...)
		},
	}}
}

// TestQuantitiesAreGuarded: an object with a quantity that takes minutes to parse is left out and named, and the
// others are there at once, however the server sends them.
func TestQuantitiesAreGuarded(t *testing.T) {
	bad := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(stands), []byte(endless)) }
	good, hostile := withQuantity("web-1", "1"), withQuantity("web-2", stands)
	for _, e := range encodings(t) {
		end := &corev1.Pod{TypeMeta: good.TypeMeta, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "9", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}
		page := func(pods ...corev1.Pod) []byte {
			return bad(e.object(&corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: pods}))
		}
		added := func(p *corev1.Pod) []byte { return e.event("ADDED", bad(e.object(p))) }
		for name, send := range map[string]struct{ page, stream, watch []byte }{
			"page":   {page: page(*good, *hostile)},
			"stream": {stream: bytes.Join([][]byte{added(good), added(hostile), e.event("BOOKMARK", e.object(end))}, nil)},
			"watch":  {page: page(*good), watch: added(hostile)},
		} {
			t.Run(name+" "+e.mediaType, func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					w.Header().Set("Content-Type", e.mediaType)
					query := req.URL.Query()
					switch {
					case req.URL.Path != "/api/v1/pods":
						w.WriteHeader(http.StatusNotFound)
						return
					case query.Get("watch") == "":
						w.Write(send.page)
						return
					case query.Get("sendInitialEvents") == "":
						w.Write(send.watch)
					case send.stream == nil:
						w.WriteHeader(http.StatusUnprocessableEntity)
						return
					default:
						w.Write(send.stream)
					}
					w.(http.Flusher).Flush()
					<-req.Context().Done()
				}))
				t.Cleanup(server.Close)
				t.Cleanup(server.CloseClientConnections)
				source, err := live.New(&rest.Config{Host: server.URL}, live.Options{})
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
				defer stop()
				go source.Run(ctx) // is not waited for: what hangs, hangs for good
				w := &watched{T: t, source: source}
				w.until("the pod that is left out", func() bool { return w.attached() && len(w.status.Notices) > 0 })
				if told := w.told(); fmt.Sprint(told) != "[added web-1 Attached]" {
					t.Errorf("told %v", told)
				}
				if got, want := w.status.Notices[0], "Skipped an object among the pods: Pod web-2: a number out of range"; !strings.HasPrefix(got, want) {
					t.Errorf("noticed %q, want %q", got, want)
				}
			})
		}
	}
}
