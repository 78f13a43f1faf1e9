package metrics

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/opinion"
)

// TestBounded: only the names with the most pods keep their label.
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
		t.Errorf("below the limit: %s", got)
	}
}

func TestAgeLabel(t *testing.T) {
	for age, want := range map[time.Duration]string{0: "<1m", time.Minute: "1m-10m", 9 * time.Minute: "1m-10m", 10 * time.Minute: "10m-1h",
		time.Hour: "1h-24h", 24 * time.Hour: ">=24h", 1000 * time.Hour: ">=24h"} {
		if got := ageLabel(age); got != want {
			t.Errorf("%v is %s, want %s", age, got, want)
		}
	}
}

// TestWasted: an attempt is wasted if the same plugins rejected the pod's previous one.
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
	fails("c") // an error, without plugins
	w.count(&board.Transition{Transition: queue.Transition{To: queue.Scheduled}, Pod: &board.Pod{PodInfo: queue.PodInfo{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "b"}}}}})
	fails("b", "NodeAffinity")
	for plugin, want := range map[string]float64{"NodeResourcesFit": 2, "NodeAffinity": 0} {
		var m dto.Metric
		if err := w.wasted.WithLabelValues(plugin).Write(&m); err != nil {
			t.Fatal(err)
		}
		if got := m.GetCounter().GetValue(); got != want {
			t.Errorf("%v wasted attempts by %s, want %v", got, plugin, want)
		}
	}
	for i := range 100 {
		if label := w.pluginLabel(fmt.Sprint("plugin-", i)); i >= maxPlugins && label != other {
			t.Fatalf("label of plugin %d is %s", i, label)
		}
	}
}

// TestVerdicts: a waiting pod counts by verdict and namespace while it has the verdict, and each
// missed wake-up counts once.
func TestVerdicts(t *testing.T) {
	f, b, at := New(), board.New(), time.Unix(1000, 0)
	pod := func(name string, code opinion.Code, certain bool) *board.Pod {
		p := &board.Pod{Key: types.NamespacedName{Namespace: "train", Name: name}}
		p.Tier, p.PodInfo.Pod = queue.Active, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "train", Name: name, UID: types.UID(name)}}
		if code != "" {
			p.Opinion = &opinion.Verdict{Code: code, Certain: certain, Event: "NodeAdd"}
		}
		return p
	}
	expect := func(want map[string]float64) {
		t.Helper()
		at = at.Add(time.Minute)
		f.SetBoard(b, at)
		families, err := f.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, family := range families {
			if name := family.GetName(); name != "schedq_pods_with_verdict" && name != "schedq_missed_wake_ups_total" {
				continue
			}
			for _, m := range family.Metric {
				var labels []string
				for _, l := range m.Label {
					labels = append(labels, l.GetValue())
				}
				got[strings.Join(labels, " ")] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	lost := pod("a", opinion.Lost, true)
	b.Replace(nil, lost)
	b.Replace(nil, pod("b", opinion.Lost, false))
	b.Replace(nil, pod("c", opinion.Lost, false))
	b.Replace(nil, pod("d", "", false))
	expect(map[string]float64{"true train Lost": 1, "false train Lost": 2})
	b.Replace(lost, pod("a", "", false))
	f.AddVerdict(at, pod("e", opinion.MissedWakeUp, true))
	f.AddVerdict(at, pod("f", opinion.Lost, true))
	f.AddVerdict(at, pod("a", "", false))
	f.SetUnserved([]*board.Pod{pod("g", opinion.NoScheduler, true)})
	expect(map[string]float64{"false train Lost": 2, "NodeAdd": 1, "true train NoScheduler": 1})
}

// TestDeployed: deploy/'s alerts and dashboard query only metrics that exist, and their names are
// schedq's own.
func TestDeployed(t *testing.T) {
	f := New()
	descs := make(chan *prometheus.Desc, 100)
	for _, c := range []prometheus.Collector{f.pending, f.unschedulable, f.incoming, f.attempts, f.sli, f.waits.waiting, f.waits.longest, f.waits.wasted, f.waits.own, f.waits.difference, f.waits.judged, f.waits.missed} {
		c.Describe(descs)
	}
	close(descs)
	exported := map[string]bool{}
	for d := range descs {
		name := regexp.MustCompile(`fqName: "([^"]*)"`).FindStringSubmatch(d.String())[1]
		if exported[name] = true; !strings.HasPrefix(name, "schedq_") {
			t.Errorf("%s may be the name of another program's metric", name)
		}
	}
	for _, name := range []string{"alerts.yaml", "dashboard.json"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		queried := regexp.MustCompile(`\b(schedq|scheduler)_[a-z_]+`).FindAllString(string(text), -1)
		if len(queried) < 5 {
			t.Errorf("%s queries %q", name, queried)
		}
		for _, figure := range queried {
			if !exported[figure] {
				t.Errorf("%s queries %s, which does not exist", name, figure)
			}
		}
		if name == "dashboard.json" && !json.Valid(text) {
			t.Errorf("%s is not JSON", name)
		}
	}
}
