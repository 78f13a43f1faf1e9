// Package embedded holds recordings of a real cluster that come with the program: traces (see
// docs/reference/trace-format.md) of an etcd, a kube-apiserver, a kube-controller-manager and a kube-scheduler
// v1.37.1 with kwok nodes.
package embedded

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/files"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/trace"
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

// A summary of each recording (see sources.Recording.Events) lies beside it, so that it can be played before it is read.
const recording, summary = ".jsonl.zst", ".gist.jsonl.zst"

// Open reads an embedded recording. The error is one sentence that lists the names there are.
func Open(ctx context.Context, name string) (*sources.Recording, error) {
	data, err := text(name, recording)
	if err != nil {
		return nil, err
	}
	return files.Read(ctx, name, data)
}

// OpenToPlay is Open of a recording of which no more is read than is played.
func OpenToPlay(ctx context.Context, name string) (*sources.Recording, error) {
	data, err := text(name, summary)
	if err != nil {
		return nil, err
	}
	rec, err := files.Read(ctx, name, data)
	if err != nil {
		return nil, err
	}
	rec.Reread = func(ctx context.Context) iter.Seq2[sources.Event, error] {
		return func(yield func(sources.Event, error) bool) { events(ctx, name, yield) }
	}
	return rec, nil
}

// events yields the events of an embedded recording.
func events(ctx context.Context, name string, yield func(sources.Event, error) bool) {
	data, err := text(name, recording)
	if err != nil {
		yield(sources.Event{}, err)
		return
	}
	r, err := lines.New(ctx, name, time.Time{}, io.NopCloser(bytes.NewReader(data)))
	if err != nil {
		yield(sources.Event{}, err)
		return
	}
	defer r.Close()
	trace.NewReader(r, nil).All()(yield)
}

// text returns the file of an embedded recording that ends so.
func text(name, ends string) ([]byte, error) {
	data, err := traces.ReadFile(name + ends)
	if err != nil {
		var names []string
		for _, i := range All() {
			names = append(names, i.Name)
		}
		return nil, fmt.Errorf("there is no embedded recording \"%s\", only %s", sources.Sanitize(name), strings.Join(names, ", "))
	}
	return data, nil
}
