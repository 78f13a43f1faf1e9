package lessons_test

import (
	"strings"
	"testing"

	"github.com/schedq/schedq/lessons"
)

// incident is a valid lesson on a built-in recording.
const incident = `schedq: lesson
version: 1
name: mine
title: Mine
misconception: What people get wrong.
holds: every release
recording: no-node
start: 2026-11-21T11:05:36Z
end: 60s
---
step: Look around
text: A few sentences.
at: 50s
find:
  pod: early-0
  cause:
    - answer: An error.
      right: true
      says: No plugin rejected it.
    - answer: A taint.
      says: There was none.
claims:
  - {of: No plugin rejected it, at: 48s, pod: early-0, rejected: []}
---
step: Look once more
text: A few sentences.
find:
  pod: early-2
  shows: 60s
  event:
    - answer: AssignedPodDelete
      right: true
      says: Once.
    - answer: NodeAdd
      says: That comes later.
  plugin:
    - answer: NodeResourcesFit
      right: true
      says: There was no room.
    - answer: NodeAffinity
      says: It wants no label.
`

// TestFindings breaks a lesson on a recording and checks the error.
func TestFindings(t *testing.T) {
	if err := check(t, incident); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, is, becomes, wants string }{
		{"a cause without a claim", "of: No plugin rejected it, at", "of: A few sentences, at", `"An error." is right, but no claim backs its explanation`},
		{"a claim that does not hold for the recording", "rejected: []", "rejected: [NodePorts]", "early-0 was rejected by"},
		{"another event", "answer: AssignedPodDelete", "answer: PodAdd", "PodAdd is not the right answer to event: it is AssignedPodDelete"},
		{"a plugin that did not reject it", "answer: NodeResourcesFit", "answer: NodePorts", "it is NodeResourcesFit"},
		{"a wrong answer that is right", "answer: NodeAffinity", "answer: NodeResourcesFit", "it is NodeResourcesFit"},
		{"an event before there was one", "shows: 60s", "shows: 53.5s", "nothing woke early-2"},
		{"a plugin before there was one", "shows: 60s", "shows: 10s", "it is none"},
		{"a moment after the end", "shows: 60s", "shows: 2m", "the story ends at 1m0s"},
		{"an answer longer than a line", "answer: A taint.", "answer: A taint that the node had, which kubelet took away too late for it.", "does not fit in the"},
		{"an unknown key", "  shows: 60s", "  until: early-2", "unknown key until"},
		{"an unknown question", "  shows: 60s", "  ask: {when: \"When?\"}", `unknown question "when"`},
		{"an unknown recording", "recording: no-node", "recording: no-such", "no-such"},
		{"a recording in another folder", "recording: no-node", "recording: ../no-node", "a file in the lesson's folder"},
		{"more than was recorded", "end: 60s", "end: 2h", "does not cover 2h0m0s"},
		{"no start", "start: 2026-11-21T11:05:36Z\n", "", "needs start and end"},
		{"its own story", "---\nstep: Look around", "---\nat: 5s\n---\nstep: Look around", "can't have its own story"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(incident, c.is) {
				t.Fatalf("%q is not in the lesson", c.is)
			}
			err := check(t, strings.Replace(incident, c.is, c.becomes, 1))
			if err == nil || !strings.Contains(err.Error(), c.wants) {
				t.Errorf("lint says %v, want %s", err, c.wants)
			}
		})
	}
}

// TestLessonPlaysItsPart: a lesson plays only its part of a recording.
func TestLessonPlaysItsPart(t *testing.T) {
	l, err := lessons.Parse("mine.yaml", []byte(incident))
	if err != nil {
		t.Fatal(err)
	}
	opts, err := lessons.Options()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := l.Plan(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	s := plan.Open(opts)
	go s.Run(t.Context())
	s.SeekEnd()
	f := s.Sync()
	if want := l.Scenario.Start.Add(l.Scenario.End); f.Now.After(want) || f.Log.Len() == 0 || f.Log.At(f.Log.Len()-1).Time.After(want) {
		t.Errorf("playback ends at %s, want at most %s", f.Now, want)
	}
}
