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

// readScenario reads a scenario, packed or not.
func readScenario(ctx context.Context, f *file) error {
	return f.readWith(ctx, func(r *lines.Reader) error {
		var text bytes.Buffer
		for text.Len() <= 4<<20 { // Parse refuses a longer text
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

// played returns the recording that a local scheduler plays, or nil if the files are of another kind.
func played(name sources.SafeText, files []*file, seeds []seedList) (*sources.Recording, error) {
	rec, err := scenarioOf(name, files)
	switch {
	case rec == nil && err == nil:
		return workloadOf(name, files, seeds)
	case rec != nil && len(seeds) > 0:
		return nil, fmt.Errorf("%s is a scenario and contains all its objects: --seed is for logs", rec.Name)
	}
	return rec, err
}

// scenarioOf returns the recording of a scenario, or nil if none of the files is one. A scenario must be the only file.
func scenarioOf(name sources.SafeText, files []*file) (*sources.Recording, error) {
	for _, f := range files {
		if f.scenario == nil {
			continue
		}
		if len(files) > 1 {
			return nil, fmt.Errorf("%s is a scenario: pass it alone", f.name)
		}
		rec := f.scenario.Recording()
		if rec.Name == "" {
			rec.Name = name
		}
		return rec, nil
	}
	return nil, nil
}

// workloadOf returns the recording of the scenario that workload files form together with the seeds' objects, except
// pods. It returns nil if there are no such files.
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
		return nil, fmt.Errorf("%s is a scenario: pass it without logs", name)
	case !pods:
		return nil, fmt.Errorf("%s contains only nodes: also pass the table of pods", name)
	case !nodes:
		return nil, fmt.Errorf("%s contains no node: also pass the table of nodes, or --seed FILE with nodes (kubectl get nodes -o json)", name)
	}
	rec := workload.Scenario(name, parts, beside).Recording()
	rec.Notices = notices
	return rec, nil
}
