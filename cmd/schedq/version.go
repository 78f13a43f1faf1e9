package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/cmd/schedq/cli"
	"github.com/schedq/schedq/lessons"
	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/sources/trace"
)

// release is the tag that a release was made of. The linker sets it, and nothing else does.
var release string

// version is the release's tag, or the module's version as Go built it in: a release, or a commit's.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// build is what schedq version says.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // the commit, if it is known
	Modified bool   `json:"modified,omitempty"` // from that
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// KubeScheduler is the version of upstream's that is linked, Releases those whose queue can be shown.
	KubeScheduler string         `json:"kubeScheduler,omitempty"`
	Releases      []string       `json:"releases"`
	Formats       map[string]int `json:"formats"`
}

func thisBuild() build {
	b := build{Version: version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Releases: queue.Releases(),
		Formats: map[string]int{"trace": trace.Version, "lesson": lessons.Version, "scenario": scenario.Version}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	for _, m := range info.Deps {
		if m.Path == "k8s.io/kubernetes" {
			b.KubeScheduler = m.Version
		}
	}
	return b
}

func newVersion() *cobra.Command {
	var output cli.Output
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version, and which kube-scheduler and formats it knows",
		Example: "  schedq version -o json",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			asJSON, err := output.JSON()
			if err != nil {
				return err
			}
			b := thisBuild()
			if asJSON {
				encoder := json.NewEncoder(cmd.OutOrStdout())
				encoder.SetIndent("", "  ")
				err = encoder.Encode(b)
			} else {
				with := "with kube-scheduler " + b.KubeScheduler
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "schedq %s %s, %s, %s\n", b.Version, with, b.Go, b.Platform)
			}
			if err != nil {
				return fmt.Errorf("can't write to standard output: %w", err)
			}
			return nil
		},
	}
	output.Register(cmd)
	return cmd
}
