package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/verdict"
	"github.com/schedq/schedq/sources/embedded"
	"github.com/schedq/schedq/sources/files"
)

// rejectorsOfFailure are the parts of a log line with the plugins, which v1.31 and older releases omit without queueing
// hints, and the -v=3 line with nothing else.
var rejectorsOfFailure = regexp.MustCompile(`( schedulingCycle=\d+)?( hint=\d+)? unschedulable plugins=\{.*\}`)

// TestMoreEvidence: what the objects alone show of a waiting pod stays known with a scheduler's log beside them,
// whatever its verbosity, and if its lines do not name plugins.
func TestMoreEvidence(t *testing.T) {
	for _, name := range []string{"workshop", "lively-nopop"} {
		t.Run(name, func(t *testing.T) {
			truth, err := embedded.Open(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			objects := filepath.Join(t.TempDir(), "objects.jsonl")
			writeObjects(t, objects, truth)
			logs := map[string][]byte{}
			for v := 2; v <= 5; v++ {
				log := logOf(truth, func(time.Duration) int { return v })
				logs[fmt.Sprintf("-v=%d", v)] = log
				logs[fmt.Sprintf("-v=%d, without plugins", v)] = withoutRejectors(log, v)
			}
			moreEvidence(t, objects, logs, !strings.HasSuffix(name, "-nopop"))
		})
	}
}

// TestMoreEvidenceOfClusters is TestMoreEvidence with the recordings of SCHEDQ_RECORDINGS.
func TestMoreEvidenceOfClusters(t *testing.T) {
	root := os.Getenv("SCHEDQ_RECORDINGS")
	if os.Getenv("SCHEDQ_VERIFY") == "" || root == "" {
		t.Skip("make verify runs this")
	}
	all, err := filepath.Glob(filepath.Join(root, "*", "sched.log.gz"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no recordings in SCHEDQ_RECORDINGS: %v", err)
	}
	for _, log := range all {
		dir := filepath.Dir(log)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			whole := unzip(t, log)
			logs := map[string][]byte{"whole": whole, "whole, without plugins": withoutRejectors(whole, 5)}
			for v := 2; v <= 4; v++ {
				logs[fmt.Sprintf("-v=%d", v)] = cutLog(t, log, v)
			}
			moreEvidence(t, filepath.Join(dir, "audit.log.gz"), logs, !strings.HasSuffix(dir, "-nopop"))
		})
	}
}

// withoutRejectors returns a log without plugins. Below -v=5 such a release has no line about the move.
func withoutRejectors(log []byte, verbosity int) []byte {
	var out strings.Builder
	for line := range strings.Lines(string(log)) {
		bare := rejectorsOfFailure.ReplaceAllString(line, "")
		bare = strings.ReplaceAll(bare, `"Checking events for in-flight pod"`, `"Some other line"`)
		if bare == line || verbosity >= 5 {
			out.WriteString(bare)
		}
	}
	return []byte(out.String())
}

// answer is what a replay shows of a pod from a moment on.
type answer struct {
	at      time.Time
	tier    queue.Tier
	plugins []string
	expiry  time.Time
	message string
}

// knowsPlugins reports whether all plugins that rejected the pod are known.
func (a answer) knowsPlugins() bool {
	return len(a.plugins) > 0 && !slices.Contains(a.plugins, verdict.UnknownPlugin)
}

// moreEvidence compares what the objects alone show of each waiting pod, each second, with what each log adds.
func moreEvidence(t *testing.T, objects string, logs map[string][]byte, popsFromBackoffQ bool) {
	t.Helper()
	alone := answers(t, popsFromBackoffQ, objects)
	for name, content := range logs {
		log := filepath.Join(t.TempDir(), "sched.log")
		if err := os.WriteFile(log, content, 0o600); err != nil {
			t.Fatal(err)
		}
		with := answers(t, popsFromBackoffQ, objects, log)
		asked, lost := 0, map[string]int{}
		var example string
		for pod, states := range alone {
			for i, s := range states {
				if s.tier != queue.Backoff && s.tier != queue.Unschedulable {
					continue
				}
				until := states[len(states)-1].at
				if i+1 < len(states) {
					until = states[i+1].at
				}
				for at := s.at.Truncate(time.Second).Add(time.Second); at.Before(until); at = at.Add(time.Second) {
					asked++
					w, is := answerAt(with[pod], at)
					missing := ""
					switch {
					case !is:
						missing = "tier"
					case w.tier != s.tier:
					case s.knowsPlugins() && !w.knowsPlugins() && (w.message == "" || strings.HasPrefix(w.message, verdict.DoesNotFit)):
						missing = "plugins"
					case s.tier == queue.Backoff && !s.expiry.IsZero() && w.expiry.IsZero():
						missing = "next try"
					}
					if missing != "" {
						lost[missing]++
						example = fmt.Sprintf("%s of %s at %s: %v, with the log %v %q", missing, pod, at.Format("15:04:05"), s.plugins, w.plugins, w.message)
					}
				}
			}
		}
		if asked == 0 {
			t.Errorf("%s: no pod waits", name)
		}
		if len(lost) > 0 {
			t.Errorf("%s: of %d answers, the log loses %v: %s", name, asked, lost, example)
		}
	}
}

// answers replays files and returns what is shown of each pod.
func answers(t *testing.T, popsFromBackoffQ bool, paths ...string) map[string][]answer {
	t.Helper()
	rec, err := files.Open(t.Context(), paths, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := schedulerconfig.Default()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Queue.PopFromBackoffQ = popsFromBackoffQ
	all := map[string][]answer{}
	if err := timeline.Replay(t.Context(), rec, timeline.Options{Scheduler: cfg}, func(m *board.Transition) error {
		pod := m.Pod.Key.String()
		a := answer{at: m.Time, tier: m.To, plugins: m.Pod.RejectorPlugins(), expiry: m.BackoffExpiry, message: string(m.Pod.Message)}
		all[pod] = append(all[pod], a)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// answerAt returns what is shown at that time, and false if the pod is unknown.
func answerAt(states []answer, at time.Time) (answer, bool) {
	i := sort.Search(len(states), func(i int) bool { return states[i].at.After(at) })
	if i == 0 {
		return answer{}, false
	}
	return states[i-1], true
}
