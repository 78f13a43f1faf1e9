// Package embedded holds recordings of a real cluster that come with the program: traces (see
// docs/trace-format.md) of an etcd, a kube-apiserver, a kube-controller-manager and a kube-scheduler
// v1.37.1 with kwok nodes.
package embedded

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/files"
)

//go:embed *.jsonl.zst
var traces embed.FS

// Info describes an embedded recording.
type Info struct {
	// Name is what Open takes and the command line calls it.
	Name string
	// Title is a few words, Description one sentence.
	Title, Description string
	// Opens is how far after its start there is something to see.
	Opens time.Duration
}

// All returns the embedded recordings. The first is the one to open when none is asked for.
func All() []Info {
	return []Info{
		{
			Name:  "crowded",
			Title: "A crowded cluster",
			Description: "Two minutes of some twenty-five nodes with the default gates: Jobs that end, volumes that take seconds, " +
				"gates, priorities, and crowds of 150 pods that one event wakes.",
			Opens: 42 * time.Second,
		},
		{
			Name:  "lively-nopop",
			Title: "A lively cluster",
			Description: "Three minutes of twelve and more nodes at five operations a second, with SchedulerPopFromBackoffQ " +
				"off: about twenty pods back off at any moment.",
			Opens: 92 * time.Second,
		},
		{
			Name:  "workshop-nopop",
			Title: "The workshop, every backoff served",
			Description: "Nine scripted minutes with one of everything, from taints and claims to preemption and the five-minute " +
				"flush, with SchedulerPopFromBackoffQ off.",
		},
		{
			Name:  "workshop",
			Title: "The workshop, popping from backoffQ",
			Description: "The same script with the default gates: an idle scheduler takes pods from backoffQ before their " +
				"backoff is over (KEP-5142).",
		},
	}
}

// Open reads an embedded recording. The error is one sentence that lists the names there are.
func Open(ctx context.Context, name string) (*sources.Recording, error) {
	data, err := traces.ReadFile(name + ".jsonl.zst")
	if err != nil {
		var names []string
		for _, i := range All() {
			names = append(names, i.Name)
		}
		return nil, fmt.Errorf("there is no embedded recording \"%s\", only %s", sources.Sanitize(name), strings.Join(names, ", "))
	}
	return files.Read(ctx, name, bytes.NewReader(data))
}
