package schedlog

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/schedq/schedq/sources"
)

// ErrOther matches errors about logs without attempts: those of another program, or of a kube-scheduler that made or logged none.
var ErrOther = errors.New("this is not a kube-scheduler log")

// diagnosis finds out what a log without attempts is. It reads lines until one is about a pod.
type diagnosis struct {
	lines   int
	waits   bool   // for the lease
	leads   bool   // has the lease
	holder  string // of the lease
	lock    string // the lease's name
	program string // by a source file of another program
	http    int    // lines of the HTTP server, such as health checks
	watch   int    // failed lists and watches
	cause   string // of the first of these
	old     bool   // wording of v1.18 or older
	quotes  string // what stands in place of quotes
	panics  string // the message of a panic
}

// maxDiagnosed limits how many lines are read for it, so that a long log of another program is read fast.
const maxDiagnosed = 100_000

var (
	leaseName  = regexp.MustCompile(`\b[a-z0-9-]+/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)`)
	holderName = regexp.MustCompile(`lock is held by (\S+) and|holder="([^"]+)"`)
	oldWords   = regexp.MustCompile(`^(?:pod \S+ is bound successfully on node |Error scheduling \S+(?:/| )\S+: |Unable to schedule \S+/?\S*: |Attempting to schedule pod: |Updating pod condition for |` +
		`pod:? \S+ is already present in |About to try and schedule pod |Could not schedule|Failed to bind pod|unable to find backoff value for pod)`)
	// unreachable is why requests fail without the API server.
	unreachable = regexp.MustCompile(`(?:dial tcp \S+ )?(?:connect: )?(?:connection refused|no route to host|i/o timeout|network is unreachable|no such host|TLS handshake timeout|context deadline exceeded|EOF|Unauthorized|x509: [^"\\]+|is forbidden)`)
)

// programs are the other programs of a control plane, by source files that only they have.
var programs = map[string]string{
	"kubelet.go": "kubelet", "pod_workers.go": "kubelet", "kubelet_node_status.go": "kubelet", "reconciler_common.go": "kubelet", "kuberuntime_manager.go": "kubelet",
	"pod_container_deletor.go": "kubelet", "prober.go": "kubelet", "pod_startup_latency_tracker.go": "kubelet", "kubelet_getters.go": "kubelet", "status_manager.go": "kubelet",
	"controllermanager.go": "kube-controller-manager", "replica_set.go": "kube-controller-manager", "garbagecollector.go": "kube-controller-manager",
	"node_lifecycle_controller.go": "kube-controller-manager", "deployment_controller.go": "kube-controller-manager", "range_allocator.go": "kube-controller-manager",
	"job_controller.go": "kube-controller-manager", "endpointslice_controller.go": "kube-controller-manager", "pv_controller.go": "kube-controller-manager",
	"proxier.go": "kube-proxy", "server_linux.go": "kube-proxy", "server_others.go": "kube-proxy",
	"handler.go": "kube-apiserver", "available_controller.go": "kube-apiserver", "storage_factory.go": "kube-apiserver", "cacher.go": "kube-apiserver", "alloc.go": "kube-apiserver",
	"static_autoscaler.go": "cluster-autoscaler", "scale_up.go": "cluster-autoscaler",
}

// WhoseLines returns the program, other than kube-scheduler, that wrote the lines of klog's in a text, or "" if that is not known.
func WhoseLines(text []byte) string {
	for _, place := range places.FindAllSubmatch(text, maxDiagnosed) {
		if program := programs[string(place[1])]; program != "" {
			return program
		}
	}
	return ""
}

// places finds the source files in klog's headers.
var places = regexp.MustCompile(`[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ ([\w.-]+):\d+\] `)

// note reads a line. source is the process and the place in its source: "  402 kubelet.go:2400".
func (d *diagnosis) note(source, rest []byte) {
	if d.lines == maxDiagnosed {
		return
	}
	d.lines++
	file := source[bytes.LastIndexByte(source, ' ')+1:]
	file, _, _ = bytes.Cut(file, []byte(":"))
	text := bytes.TrimPrefix(rest, []byte(`"`))
	for _, quote := range []string{"&quot;", "&#34;", "\u201c", "\u201d", "\u00ab"} {
		if bytes.HasPrefix(rest, []byte(quote)) {
			d.quotes = quote
		}
	}
	switch {
	case string(file) == "leaderelection.go":
		d.election(text)
	case string(file) == "httplog.go":
		d.http++
	case string(file) == "reflector.go":
		if why := unreachable.Find(text); why != nil {
			if d.watch++; d.cause == "" {
				d.cause = string(sources.Sanitize(string(why)))
			}
		}
	case bytes.HasPrefix(text, []byte("Observed a panic")):
		d.panics = "a panic was observed"
	case oldWords.Match(text):
		d.old = true
	case d.program == "":
		d.program = programs[string(file)]
	}
}

// election reads a line about the lease (client-go: leaderelection.go).
func (d *diagnosis) election(text []byte) {
	lower := strings.ToLower(string(text))
	if m := leaseName.FindStringSubmatch(lower); m != nil && d.lock == "" {
		d.lock = m[1]
	}
	if m := holderName.FindSubmatch(text); m != nil {
		d.holder = string(sources.Sanitize(string(m[1]) + string(m[2])))
	}
	switch {
	case strings.HasPrefix(lower, "successfully acquired lease"):
		d.leads = true
	case strings.HasPrefix(lower, "attempting to acquire"), strings.HasPrefix(lower, "failed to acquire"), d.holder != "":
		d.waits = true
	}
}

// noteHeadless reads a line without a header.
func (d *diagnosis) noteHeadless(line []byte) {
	if bytes.HasPrefix(line, []byte("panic: ")) && d.panics == "" {
		d.panics = string(sources.Sanitize(string(line[:min(len(line), 120)])))
	}
}

// says returns what the log is and what to do, or "" if unknown.
func (d *diagnosis) says() string {
	switch {
	case d.lock != "" && !strings.Contains(d.lock, "scheduler"), d.program != "":
		return ""
	case d.quotes != "":
		return fmt.Sprintf("it has %s where klog writes quotes, as web pages and word processors do: put those back, or take the lines from their source", d.quotes)
	case d.old:
		return "it is the log of kube-scheduler v1.18 or older: schedq reads logs of v1.19 and newer"
	case d.panics != "":
		return "kube-scheduler ended in a panic, and the log contains no attempt: " + d.panics
	case d.watch > 0 && !d.leads && d.watch > d.lines/2:
		return fmt.Sprintf("the API server could not be reached or refused (%s; %d such lines), and without it kube-scheduler makes no attempts", d.cause, d.watch)
	case d.leads:
		return "this kube-scheduler has the lease, and its log contains no attempt: it logs how attempts end at -v=2 and above, and every move at -v=5"
	case d.waits && d.holder != "":
		return fmt.Sprintf("this kube-scheduler waits for the lease, which %s holds: open the holder's log", d.holder)
	case d.waits:
		return "this kube-scheduler waits for the lease, which another holds: open the holder's log (kubectl -n kube-system get lease kube-scheduler shows which)"
	case d.watch > 0:
		return fmt.Sprintf("the API server could not be reached or refused (%s), and the log contains no attempt", d.cause)
	case d.http > 0 && d.http == d.lines:
		return "its lines are only HTTP requests to kube-scheduler's own server, such as health checks: attempts are logged at -v=2 and above"
	}
	return ""
}

// whose returns the other program whose log it is, or "" if unknown.
func (d *diagnosis) whose() string {
	if d.program == "" && d.lock != "" && !strings.Contains(d.lock, "scheduler") {
		return string(sources.Sanitize(d.lock))
	}
	return d.program
}

// noAttempts is an error about a log without attempts.
type noAttempts struct {
	text  string
	other bool // the log is another program's
}

// Error implements error.
func (e *noAttempts) Error() string { return e.text }

// Is reports that the error is ErrOther.
func (e *noAttempts) Is(target error) bool { return target == ErrOther }

// WhyOther returns the reason of an error that is ErrOther, in a few words that fit any number of files, and whether
// another program wrote the log.
func WhyOther(err error) (reason string, other bool) {
	var e *noAttempts
	if !errors.As(err, &e) {
		return "", false
	}
	if e.other {
		return "log of another program", true
	}
	return "kube-scheduler log without attempts", false
}

// refuse returns the error about a log without a line about a pod.
func (d *diagnosis) refuse(name string, lines int) error {
	if said := d.says(); said != "" {
		return &noAttempts{name + ": " + said, false}
	}
	text := fmt.Sprintf("%s: %v: ", name, ErrOther)
	if whose := d.whose(); whose != "" {
		return &noAttempts{text + "it is " + whose + "'s", true}
	}
	return &noAttempts{fmt.Sprintf("%snone of its %d lines is one that kube-scheduler writes", text, lines), true}
}

// lacksMoves returns a notice about a log without all moves, or "".
func (p *parser) lacksMoves() string {
	lowest := sources.MovesVerbosity
	for _, s := range p.verbosity.spans {
		if level := s.Fact.(*sources.Logged).Verbosity; level >= 0 {
			lowest = min(lowest, level)
		}
	}
	switch {
	case p.ofPods == 0 && p.diagnosis.says() != "":
		return p.diagnosis.says()
	case lowest < sources.MovesVerbosity && p.beforeMoves:
		return "this log is of a release before v1.26, which logs how attempts ended, but at no verbosity how pods moved in between"
	case lowest < sources.MovesVerbosity:
		return fmt.Sprintf("this log is of -v=%d, at least in part: it shows how attempts ended, but not how pods moved in between", lowest)
	case p.moves == 0:
		return "no pod moves in this log: kube-scheduler writes them at -v=5 and above, and how attempts end at -v=2"
	}
	return ""
}
