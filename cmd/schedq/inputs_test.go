package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// inputs are logs as tools and people save them, in the shapes that testdata/inputs/README.md
// lists, and the result for each: the start of the recording, its contents, and its most important
// notice. Without a notice, the file itself contains year and time zone, and neither is assumed.
// For a refused file the notice names its actual contents.
var inputs = []struct{ args, want, notice string }{
	{"again-v3.log", "2026-05-04 08:00:00: 1 pod, 3 attempts, 1 bound", "-v=3, at least in part"},
	{"apiserver-error.json", "refused", "contains an error message in place of a log: pods \"kube-scheduler\" not found"},
	{"audit-array.json", "2026-05-04 11:59:00: 1 pod, 2 attempts, 1 bound", ""},
	{"audit-eventlist-array.json", "2026-05-04 11:59:00: 1 pod, 2 attempts, 1 bound", ""},
	{"audit-eventlist-items-bare.json", "2026-05-04 11:59:00: 1 pod, 2 attempts, 1 bound", ""},
	{"audit-eventlist.json", "2026-05-04 11:59:00: 1 pod, 2 attempts, 1 bound", ""},
	{"audit-filebeat.jsonl", "2026-05-04 11:59:00: 1 pod, 2 attempts, 1 bound", ""},
	{"audit-json-in-json-twice.json", "2026-05-04 11:59:00: 1 pod, 2 attempts, 1 bound", ""},
	{"audit-oc-node-logs.log", "2026-05-04 11:59:00: 1 pod, 2 attempts, 1 bound", ""},
	{"audit-one-event.log", "2026-05-04 12:00:00: 1 pod, 0 attempts, 0 bound", ""},
	{"audit-sorted-keys-first.log", "2026-05-04 11:59:00: 1 pod, 2 attempts, 1 bound", ""},
	{"audit-usual-keys.log", "2026-05-04 11:59:00: 1 pod, 2 attempts, 1 bound", ""},
	{"begins-in-the-middle.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 0 bound", ""},
	{"bom.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"configmap.json", "refused", "contains objects but not their changes: pass it as --seed, with an audit log or kube-scheduler's log"},
	{"dst-bare.log", "2026-10-25 02:01:00: 1 pod, 3 attempts, 1 bound", "go back by"},
	{"dst.log", "2026-10-25 00:59:00: 1 pod, 2 attempts, 1 bound", "converts them to UTC"},
	{"empty-array.json", "refused", "contains no records: the query that it answers found nothing"},
	{"empty-obj.json", "refused", "contains no records: the query that it answers found nothing"},
	{"events.json", "refused", "contains objects but not their changes: pass it as --seed, with an audit log or kube-scheduler's log"},
	{"export-cloudwatch-insights.csv", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-cloudwatch-tail.txt", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-cloudwatch.csv", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-csv-newlines.csv", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-datadog.csv", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-datadog.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-elastic-hits.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-gcloud-folded.yaml", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-gcloud-text.yaml", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-grafana-header.txt", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-grafana.csv", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-grafana.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-grafana.txt", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-loganalytics-query.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-loganalytics.csv", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-loganalytics2.csv", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-logcli.txt", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-splunk.csv", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-splunk.jsonl", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"export-vector.jsonl", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"gcp-console.csv", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"gone-at-v2.log", "2026-05-04 02:00:00: 19 pods, 20 attempts, 18 bound", ""},
	{"gone-deleted-at-v3.log", "2026-05-04 10:00:00: 2 pods, 2 attempts, 1 bound", "-v=3, at least in part"},
	{"html.log", "refused", "it has &quot; where klog writes quotes, as web pages and word processors do: put those back, or take the"},
	{"idle-httplog-only.log", "refused", "its lines are only HTTP requests to kube-scheduler's own server, such as health checks: attempts are logged"},
	{"idle-journal-standby-k3s.log", "refused", "this kube-scheduler waits for the lease, which another holds: open the holder's log (kubectl -n kube-system get"},
	{"idle-journal-standby.log", "refused", "this kube-scheduler waits for the lease, which cp1_3 holds: open the holder's log"},
	{"idle-journal-v17-hyperkube.log", "refused", "it is the log of kube-scheduler v1.18 or older: schedq reads logs of v1.19"},
	{"idle-journal-v17.log", "refused", "it is the log of kube-scheduler v1.18 or older: schedq reads logs of v1.19"},
	{"idle-kubelet-journal.log", "refused", "contains kubelet's log, and neither kube-scheduler's nor audit events"},
	{"idle-leader-at-v0.log", "2026-05-04 12:00:17: 0 pods, 0 attempts, 0 bound", "no year"},
	{"idle-panic.log", "refused", "is the stack of a program that ended in a panic, without the log before it: kubectl logs --previous has that"},
	{"idle-reflector-only.log", "refused", "the API server could not be reached or refused (dial tcp 10.0.0.1:6443: connect: connection refused; 2 such"},
	{"idle-standby.log", "refused", "this kube-scheduler waits for the lease, which cp1_3 holds: open the holder's log"},
	{"joined-out-of-order-bare.log", "2026-05-04 12:00:00: 1 pod, 4 attempts, 1 bound", "repeated, the first is line 5: schedq counts them once"},
	{"journal-bytes.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"journal-chinese-spaced.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"journal-chinese.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"journal-export.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "converts them to UTC"},
	{"journal-json-pretty.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "converts them to UTC"},
	{"journal-rfc5424.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"journal-russian-k3s.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"journal-russian.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"journal-short-full-cest.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "converts them to UTC"},
	{"journal-short-full.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"journal-short-precise-monotonic.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"journal-short-unix.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"journal-verbose-export.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"kibana.csv", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"klog-in-prefix.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"klog-in-prefix2.log", "2026-05-04 11:59:59: 1 pod, 2 attempts, 1 bound", "no year"},
	{"klogjson-azure.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"klogjson-cloudlogging.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"klogjson-cloudwatch.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"klogjson-docker.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"klogjson-fluentbit-merged.jsonl", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"klogjson-journald-k3s.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"klogjson-journald-short.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"klogjson-journald.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"klogjson-text-then-json.log", "2026-05-04 11:59:59: 1 pod, 2 attempts, 1 bound", ""},
	{"klogjson-two-lines-time.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"kubectl-error.txt", "refused", "contains an error message in place of a log: Error from server (NotFound): pods \"kube-scheduler\" not found"},
	{"logfmt.log", "refused", "has a klog line at column 49 of line 1, after a prefix that schedq does not know: remove the prefix"},
	{"loki-empty.json", "refused", "contains no records: the query that it answers found nothing"},
	{"mixed-streams.jsonl", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"newest-first.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"old-v118.log", "refused", "it is the log of kube-scheduler v1.18 or older: schedq reads logs of v1.19"},
	{"old-v119.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "before v1.26"},
	{"old-v123.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "before v1.26"},
	{"other-deployment.yaml", "refused", "contains objects that kube-scheduler does not read: pods and nodes, as kubectl get pods,nodes -A -o json"},
	{"other-describe.txt", "refused", "is output of kubectl describe, without the times of attempts: pass the output of kubectl get -o json as --seed, with an"},
	{"other-dump.txt", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"other-events.txt", "refused", "is a table of Events, with ages instead of times: pass the output of kubectl get events -A -o json as --seed, with a log"},
	{"other-pod.json", "refused", "contains objects but not their changes: pass it as --seed, with an audit log or kube-scheduler's log"},
	{"other-pod.yaml", "refused", "contains objects but not their changes: pass it as --seed, with an audit log or kube-scheduler's log"},
	{"prefix-ansi.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-compose.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-github-actions.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"prefix-gotest.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-grep-H.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-indent.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-kubectl-prefix-ts.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"prefix-kubetail.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-linenumbers.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-logger-go.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-logger-name-less.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-quote-md.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-stern-json.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-stern-plus.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-stern-two.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-stern.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-two-schedulers.log", "refused", "open the log of one scheduler"},
	{"prefix-ui-time-iso.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"prefix-ui-time.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"reasons-dra.log", "2026-05-04 12:00:00: 1 pod, 1 attempt, 0 bound", "no year"},
	{"reasons-older-words.log", "2026-05-04 12:00:00: 4 pods, 4 attempts, 0 bound", "before v1.26"},
	{"redacted-colour-name.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"redacted-empty.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "names were redacted"},
	{"redacted-no-ns.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "names were redacted"},
	{"redacted-x.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "names were redacted"},
	{"redacted.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "names were redacted"},
	{"repeated-cur", "2026-05-04 12:00:00: 1 pod, 4 attempts, 1 bound", "repeats"},
	{"repeated-overlap-1.log", "2026-05-04 12:00:00: 1 pod, 3 attempts, 0 bound", ""},
	{"repeated-overlap-2.log", "2026-05-04 12:00:10: 1 pod, 3 attempts, 1 bound", ""},
	{"restart-prefix.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"rke-docker-fluentd.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"smartquotes.log", "refused", "it has ” where klog writes quotes, as web pages and word processors do: put those back, or take the lines"},
	{"stern-failover.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"stern-two-work.log", "refused", "open the log of one scheduler"},
	{"three-days.log", "2026-05-02 23:59:00: 1 pod, 2 attempts, 1 bound", ""},
	{"truncated.json", "2026-05-04 12:00:00: 1 pod, 1 attempt, 0 bound", ""},
	{"twice-json.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"two-clusters", "refused", "open the log of one scheduler"},
	{"utf16.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"v5-rejection-without-move.log", "2026-05-04 12:00:00: 2 pods, 2 attempts, 1 bound", "no year"},
	{"with-unit.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"wrapper-1970.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "in no time zone"},
	{"wrapper-clock.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "in no time zone"},
	{"wrapper-late.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "in no time zone"},
	{"year-cri.log", "2025-12-31 23:59:50: 1 pod, 2 attempts, 1 bound", ""},
	{"year-in-file.log", "2022-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", ""},
	{"year.log", "2025-12-31 23:59:50: 1 pod, 2 attempts, 1 bound", "no year"},
	{"zap.log", "refused", "has a format that schedq does not read (an audit log of kube-apiserver, a log of kube-scheduler, a trace, a"},
	{"zone-azure.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "converts them to UTC"},
	{"zone-cloudlogging.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "converts them to UTC"},
	{"zone-cloudwatch.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "converts them to UTC"},
	{"zone-cri.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "converts them to UTC"},
	{"zone-docker.log", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "converts them to UTC"},
	{"zone-journald.json", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "converts them to UTC"},
	{"failover-a-0.log failover-b.log", "2026-05-04 09:58:00: 3 pods, 5 attempts, 2 bound", "no year"},
	{"repeated-overlap-1.log repeated-overlap-2.log", "2026-05-04 12:00:00: 1 pod, 4 attempts, 1 bound", "repeats"},
	{"prefix-indent.log --seed seed-folder", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-indent.log --seed other-pod.yaml", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
	{"prefix-indent.log --seed other-dump.txt", "2026-05-04 12:00:00: 1 pod, 2 attempts, 1 bound", "no year"},
}

// noYear is part of the notice that year and time zone are assumed.
const noYear = "no year"

// TestInputs: report has the expected result for each input. The test sets the files' modification
// times, since the assumed year depends on them.
func TestInputs(t *testing.T) {
	const dir = "testdata/inputs"
	saved := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	temp := t.TempDir()
	if err := os.CopyFS(temp, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(temp)
	unused := map[string]bool{"README.md": true}
	err := filepath.Walk(".", func(path string, _ os.FileInfo, err error) error {
		unused[strings.Split(path, "/")[0]] = path != "README.md" && path != "."
		if err != nil {
			return err
		}
		return os.Chtimes(path, saved, saved)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range inputs {
		t.Run(in.args, func(t *testing.T) {
			args := strings.Fields(in.args)
			for _, arg := range args {
				delete(unused, arg)
			}
			code, stdout, stderr := schedq(t, "", append([]string{"report", "-o", "json"}, args...)...)
			got := "refused"
			if code == 0 {
				var r struct {
					Start    time.Time
					Pods     int
					Attempts struct{ Total, Bound int }
				}
				if err := json.Unmarshal([]byte(stdout), &r); err != nil {
					t.Fatal(err)
				}
				got = fmt.Sprintf("%s: %s, %s, %d bound", r.Start.UTC().Format(time.DateTime), number(r.Pods, "pod"), number(r.Attempts.Total, "attempt"), r.Attempts.Bound)
			}
			if got != in.want {
				t.Errorf("got %s, want %s\n%s", got, in.want, stderr)
			}
			if !strings.Contains(stderr, in.notice) || in.notice == "" && strings.Contains(stderr, noYear) {
				t.Errorf("want %q in\n%s", in.notice, stderr)
			}
		})
	}
	for name, is := range unused {
		if is {
			t.Errorf("%s is not in inputs", name)
		}
	}
}

// number returns "1 pod" or "2 pods".
func number(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return fmt.Sprintf("%d %s", n, of)
}
