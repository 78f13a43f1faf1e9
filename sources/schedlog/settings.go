package schedlog

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// maxGates limits how many feature gates are kept; v1.37 has about 200.
const maxGates = 1000

// settings collects the flags and the configuration, as YAML, that the scheduler prints before it starts.
type settings struct {
	gates                      map[string]bool
	initialBackoff, maxBackoff time.Duration
	maxInUnschedulable         time.Duration
}

func newSettings() *settings {
	return &settings{initialBackoff: -1, maxBackoff: -1, maxInUnschedulable: -1}
}

// flag takes one of the lines that k8s.io/component-base/cli/flag.PrintFlags writes: name="value".
func (s *settings) flag(line []byte) {
	name, quoted, _ := bytes.Cut(line, []byte("="))
	v, err := strconv.Unquote(string(quoted))
	if err != nil {
		return
	}
	switch string(name) {
	case "feature-gates":
		s.featureGates(v)
	case "pod-max-in-unschedulable-pods-duration":
		if d, err := time.ParseDuration(v); err == nil && d >= 0 {
			s.maxInUnschedulable = d
		}
	}
}

// featureGates reads "Gate=bool,..."; since v1.31 each may have a component before it, "kube:Gate=bool"
// or ":Gate=bool".
func (s *settings) featureGates(v string) {
	for _, item := range strings.Split(v, ",") {
		name, value, ok := strings.Cut(strings.Trim(item, " []"), "=")
		on, err := strconv.ParseBool(strings.TrimSpace(value))
		if !ok || err != nil || len(s.gates) >= maxGates {
			continue
		}
		if s.gates == nil {
			s.gates = map[string]bool{}
		}
		s.gates[string(sources.Sanitize(name[strings.LastIndexByte(name, ':')+1:]))] = on
	}
}

// config reads a line of the printed KubeSchedulerConfiguration.
func (s *settings) config(line []byte) {
	key, v, ok := strings.Cut(strings.TrimSpace(string(line[:min(len(line), 200)])), ": ")
	if !ok {
		return
	}
	seconds, err := strconv.ParseInt(v, 10, 32)
	if err != nil || seconds < 0 {
		return
	}
	switch key {
	case "podInitialBackoffSeconds":
		s.initialBackoff = time.Duration(seconds) * time.Second
	case "podMaxBackoffSeconds":
		s.maxBackoff = time.Duration(seconds) * time.Second
	}
}

func (s *settings) fact(release string) *sources.SchedulerStarted {
	if strings.HasPrefix(release, "v0.0.0") {
		release = "" // built without a version
	}
	var from sources.ReleaseSource
	if release != "" {
		from = sources.ReleaseLogged
	}
	return &sources.SchedulerStarted{
		Release:                   sources.Sanitize(release),
		From:                      from,
		Gates:                     s.gates,
		PodInitialBackoff:         s.initialBackoff,
		PodMaxBackoff:             s.maxBackoff,
		PodMaxInUnschedulablePods: s.maxInUnschedulable,
	}
}

// complete adds what only the whole log shows: the release, from the wording, and a start for a
// log of all moves that begins in the middle. It reports whether it added a start.
func (p *parser) complete() (begins bool) {
	if begins = len(p.started) == 0 && len(p.verbosity.spans) == 0 && p.moves > 0; begins {
		p.started = append(p.started, p.settings.fact(""))
	}
	for _, fact := range p.started {
		inferRelease(fact, p.entity)
	}
	return begins
}

// inferRelease sets the unknown release of a start to v1.37 if the log has the wording of v1.37.
func inferRelease(fact *sources.SchedulerStarted, entity bool) {
	if fact.Release == "" && entity {
		fact.Release, fact.ReleaseInferred, fact.From = "v1.37", true, sources.ReleaseLogged
	}
}
