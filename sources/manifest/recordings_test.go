package manifest

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/diff"

	"github.com/schedq/schedq/sources"
)

// TestAsAPIServer reads what clients of a real kube-apiserver v1.37 asked it to create, and compares with
// what it created.
func TestAsAPIServer(t *testing.T) {
	dir := os.Getenv("SCHEDQ_RECORDINGS")
	if dir == "" {
		t.Skip("SCHEDQ_RECORDINGS is not set")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*", "audit.log.gz"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		classes := map[string]*schedulingv1.PriorityClass{}
		lines := bufio.NewScanner(z)
		lines.Buffer(nil, 16<<20)
		pods := 0
		for lines.Scan() && pods < 500 {
			var e struct {
				Verb           string
				ObjectRef      struct{ Subresource string }
				ResponseStatus struct{ Code int }

				RequestObject, ResponseObject json.RawMessage
			}
			if json.Unmarshal(lines.Bytes(), &e) != nil || e.Verb != "create" || e.ObjectRef.Subresource != "" || e.ResponseStatus.Code != 201 {
				continue
			}
			want, err := sources.NewDecoder().Decode(e.ResponseObject)
			if err != nil || want == nil {
				continue
			}
			switch o := want.(type) {
			case *schedulingv1.PriorityClass:
				classes[o.Name] = o
			case *corev1.Node, *corev1.PersistentVolume:
				continue // ready and available only later
			case *corev1.Pod:
				pods++
			}
			m, err := Parse("request", e.RequestObject)
			if err != nil || len(m.Objects) != 1 {
				t.Fatalf("%v\n%s", err, e.RequestObject)
			}
			got := m.Objects[0]
			if p, ok := got.(*corev1.Pod); ok {
				if err := ResolvePriority(p, func(name string) (*schedulingv1.PriorityClass, bool) { c, ok := classes[name]; return c, ok },
					func() *schedulingv1.PriorityClass { return nil }); err != nil {
					t.Fatal(err)
				}
				if cs := want.(*corev1.Pod).Status.Conditions; len(cs) > 0 {
					cs[0].LastTransitionTime = metav1.Time{}
				}
			}
			from, to := want.(metav1.Object), got.(metav1.Object)
			if generatesName(t, e.RequestObject) {
				to.SetName(from.GetName()) // which is chance
			}
			to.SetUID(from.GetUID())
			to.SetResourceVersion(from.GetResourceVersion())
			to.SetCreationTimestamp(from.GetCreationTimestamp())
			to.SetGeneration(from.GetGeneration())
			if !apiequality.Semantic.DeepEqual(got, want) {
				t.Fatalf("%s:\n%s", path, diff.Diff(want, got))
			}
		}
		if lines.Err() != nil || pods == 0 {
			t.Errorf("%s: %d pods, %v", path, pods, lines.Err())
		}
		f.Close()
	}
}

func generatesName(t *testing.T, request []byte) bool {
	var o struct {
		Metadata struct{ Name, GenerateName string }
	}
	if err := json.Unmarshal(request, &o); err != nil {
		t.Fatal(err)
	}
	return o.Metadata.Name == "" && o.Metadata.GenerateName != ""
}
