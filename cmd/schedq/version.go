package main

import (
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

// release is the tag of a release. Only the linker sets it.
var release string

// version returns the release's tag, or else the module version from the build info.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// build is the output of schedq version.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // the commit
	Modified bool   `json:"modified,omitempty"` // uncommitted changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// KubeScheduler is the linked version, Releases those whose queue rules are supported.
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

// String returns b as one line, for schedq version and --version.
func (b build) String() string {
	return fmt.Sprintf("schedq %s with kube-scheduler %s, %s, %s\n", b.Version, b.KubeScheduler, b.Go, b.Platform)
}

func newVersion() *cobra.Command {
	var output cli.Output
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version and the supported releases and formats",
		Example: "  schedq version -o json",
		Args:    cli.Args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			asJSON, err := output.JSON()
			if err != nil {
				return err
			}
			b := thisBuild()
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), b)
			}
			return cli.WriteText(cmd.OutOrStdout(), b.String())
		},
	}
	output.Register(cmd)
	return cmd
}
