package files

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/trace"
)

// TestOwnTraces: schedq opens a trace that it wrote, however well it compresses.
func TestOwnTraces(t *testing.T) {
	begin := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	labels := map[string]string{}
	for i := range 60 {
		labels[fmt.Sprintf("example.com/label-%d", i)] = strings.Repeat("v", 50)
	}
	for name, c := range map[string]struct {
		count int
		fact  func(i int) sources.Fact
	}{
		"moves": {70_000, func(i int) sources.Fact {
			to := []sources.Tier{sources.TierActive, sources.TierInFlight, sources.TierScheduled}[i%3]
			return &sources.Move{Pod: types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("p-%d", i/3)}, To: to, Event: "UnscheduledPodAdd"}
		}},
		"large nodes that hardly change": {14_000, func(i int) sources.Fact {
			return &sources.ObjectChange{Verb: sources.Updated, Object: &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n-%d", i%10), Labels: labels, ResourceVersion: fmt.Sprint(i)}}}
		}},
	} {
		path := filepath.Join(t.TempDir(), "own.trace.zst")
		if err := disk.Write(t.Context(), path, disk.Options{}, func(w io.Writer) error {
			out, err := trace.NewPacked(w, path)
			if err != nil {
				return err
			}
			for i := range c.count {
				if err := out.Write(sources.Event{Time: begin.Add(time.Duration(i) * 100 * time.Millisecond), Fact: c.fact(i)}); err != nil {
					return err
				}
			}
			return out.Close()
		}); err != nil {
			t.Fatal(err)
		}
		rec, err := Open(t.Context(), []string{path}, Options{Summary: noSummary})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		read := 0
		for _, err := range rec.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			read++
		}
		if read != c.count {
			t.Errorf("%s: %d events, want %d", name, read, c.count)
		}
	}
}
