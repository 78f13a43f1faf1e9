package metrics

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
)

// TestBounded: the names with the most pods keep theirs, and the others are other.
func TestBounded(t *testing.T) {
	counts := map[string]int{}
	for i := range 60 {
		counts[fmt.Sprintf("ns-%02d", i)] = i + 1
	}
	label := bounded(counts, 50)
	for name, want := range map[string]string{"ns-59": "ns-59", "ns-10": "ns-10", "ns-09": other, "ns-00": other} {
		if got := label(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := bounded(counts, 60)("ns-00"); got != "ns-00" {
		t.Errorf("where there is room it is %s", got)
	}
}

// TestAges: each age is in one bucket.
func TestAges(t *testing.T) {
	for age, want := range map[time.Duration]string{0: "<1m", time.Minute: "1m-10m", 9 * time.Minute: "1m-10m", 10 * time.Minute: "10m-1h",
		time.Hour: "1h-24h", 24 * time.Hour: ">=24h", 1000 * time.Hour: ">=24h"} {
		if got := ageLabel(age); got != want {
			t.Errorf("%v is %s, want %s", age, got, want)
		}
	}
}

// TestWasted: an attempt that ends as the one before of the same pod told nothing new.
func TestWasted(t *testing.T) {
	w := newWaits(prometheus.NewRegistry())
	fails := func(uid types.UID, plugins ...string) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}}
		w.count(&board.Transition{Transition: queue.Transition{To: queue.Unschedulable, Event: queue.ScheduleAttemptFailure},
			Pod: &board.Pod{PodInfo: queue.PodInfo{Pod: pod, UnschedulablePlugins: plugins}}})
	}
	fails("a", "NodeAffinity")
	fails("b", "NodeAffinity")
	fails("a", "NodeResourcesFit")
	fails("a", "NodeResourcesFit")
	fails("a", "NodeResourcesFit")
	fails("c")
	fails("c") // an error, by no plugin
	w.count(&board.Transition{Transition: queue.Transition{To: queue.Scheduled}, Pod: &board.Pod{PodInfo: queue.PodInfo{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "b"}}}}})
	fails("b", "NodeAffinity")
	for plugin, want := range map[string]float64{"NodeResourcesFit": 2, "NodeAffinity": 0} {
		var m dto.Metric
		if err := w.wasted.WithLabelValues(plugin).Write(&m); err != nil {
			t.Fatal(err)
		}
		if got := m.GetCounter().GetValue(); got != want {
			t.Errorf("%v attempts are wasted by %s, want %v", got, plugin, want)
		}
	}
	for i := range 100 {
		if label := w.pluginLabel(fmt.Sprint("plugin-", i)); i >= mostPlugins && label != other {
			t.Fatalf("the %dth plugin is %s", i, label)
		}
	}
}

// TestDeployed: each figure that an alert or the dashboard of deploy/ asks for is one of these.
func TestDeployed(t *testing.T) {
	f := New()
	descs := make(chan *prometheus.Desc, 100)
	for _, c := range []prometheus.Collector{f.pending, f.unschedulable, f.incoming, f.attempts, f.sli, f.waits.waiting, f.waits.longest, f.waits.wasted, f.waits.own, f.waits.difference} {
		c.Describe(descs)
	}
	close(descs)
	exported := map[string]bool{}
	for d := range descs {
		exported[regexp.MustCompile(`fqName: "([^"]*)"`).FindStringSubmatch(d.String())[1]] = true
	}
	for _, name := range []string{"alerts.yaml", "dashboard.json"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		asked := regexp.MustCompile(`\b(schedq|scheduler)_[a-z_]+`).FindAllString(string(text), -1)
		if len(asked) < 5 {
			t.Errorf("%s asks for %q", name, asked)
		}
		for _, figure := range asked {
			if !exported[figure] {
				t.Errorf("%s asks for %s, and there is none", name, figure)
			}
		}
		if name == "dashboard.json" && !json.Valid(text) {
			t.Errorf("%s is not JSON", name)
		}
	}
}
