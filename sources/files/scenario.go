package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/sources/workload"
)

// readScenario reads a file that was found to be a scenario, line by line as all others: packed or not.
func readScenario(ctx context.Context, f *file) error {
	return f.readWith(ctx, func(r *lines.Reader) error {
		var text bytes.Buffer
		for text.Len() <= 4<<20 { // what is longer is too long for Parse
			line, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			text.Write(line)
			text.WriteByte('\n')
		}
		s, err := scenario.Parse(f.name, text.Bytes())
		f.scenario, f.part = s, &sources.Part{Format: scenario.Format}
		return err
	})
}

// played returns the recording that a local scheduler plays, if files are of one. It is nil if they are not.
func played(name sources.SafeText, files []*file, seeds []seedList) (*sources.Recording, error) {
	rec, err := scenarioOf(name, files)
	switch {
	case rec == nil && err == nil:
		return workloadOf(name, files, seeds)
	case rec != nil && len(seeds) > 0:
		return nil, fmt.Errorf("%s is a scenario, which tells of all its objects: a seed is for logs", rec.Name)
	}
	return rec, err
}

// scenarioOf returns the recording of a scenario, if one is among the files: then it must be the only one. It is
// nil if there is none.
func scenarioOf(name sources.SafeText, files []*file) (*sources.Recording, error) {
	for _, f := range files {
		if f.scenario == nil {
			continue
		}
		if len(files) > 1 {
			return nil, fmt.Errorf("%s is a scenario, which is played alone", f.name)
		}
		rec := f.scenario.Recording()
		if rec.Name == "" {
			rec.Name = name
		}
		return rec, nil
	}
	return nil, nil
}

// workloadOf returns the recording of the scenario that files make together of what a cluster had to do, with the nodes and
// all else but the pods of seeds. It is nil if there are no such files.
func workloadOf(name sources.SafeText, files []*file, seeds []seedList) (*sources.Recording, error) {
	var parts []*workload.Part
	var beside []runtime.Object
	var notices []string
	nodes, pods := false, false
	for _, f := range files {
		if f.workload == nil {
			continue
		}
		parts = append(parts, f.workload)
		notices = append(notices, f.workload.Notices...)
		nodes, pods = nodes || f.workload.HasNodes(), pods || len(f.workload.Moments) > 0
	}
	for _, l := range seeds {
		for _, obj := range l.Objects {
			switch obj.(type) {
			case *corev1.Pod:
				continue
			case *corev1.Node:
				nodes = true
			}
			beside = append(beside, obj)
		}
	}
	switch {
	case len(parts) == 0:
		return nil, nil
	case len(parts) < len(files):
		return nil, fmt.Errorf("%s is a scenario, which is not played beside logs", name)
	case !pods:
		return nil, fmt.Errorf("%s tells of nodes alone: name the table of pods beside it", name)
	case !nodes:
		return nil, fmt.Errorf("%s tells of no node: name the table of nodes beside it, or give --seed FILE with nodes (kubectl get nodes -o json)", name)
	}
	rec := workload.Scenario(name, parts, beside).Recording()
	rec.Notices = notices
	return rec, nil
}
