package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// RegisterRelease adds --scheduler-release to cmd unless cmd has it. It is the release of the recorded
// or watched scheduler; --release names another one to rerun a recording under.
func RegisterRelease(cmd *cobra.Command) {
	if cmd.Flags().Lookup("scheduler-release") == nil {
		cmd.Flags().String("scheduler-release", "", "override the detected scheduler release, such as v1.31.4")
	}
}

// maxRelease is the maximum length of a release, such as v1.31.4-eks-1234567.
const maxRelease = 64

// SchedulerRelease returns the value of --scheduler-release, or "" if it is not set.
func SchedulerRelease(cmd *cobra.Command) (sources.SafeText, error) {
	text, _ := cmd.Flags().GetString("scheduler-release")
	if text == "" {
		return "", nil
	}
	release := "v" + strings.TrimPrefix(text, "v")
	if name, _ := queue.ReleaseFor(release); name == "" || len(release) > maxRelease {
		return "", Usagef("invalid --scheduler-release %s: use a kube-scheduler release such as v1.31 or v1.31.4", sources.Sanitize(text))
	}
	return sources.Sanitize(release), nil
}

// WithRelease returns rec with the scheduler release of cmd's flag, if it is set.
func WithRelease(cmd *cobra.Command, rec *sources.Recording) (*sources.Recording, error) {
	release, err := SchedulerRelease(cmd)
	if err != nil || release == "" {
		return rec, err
	}
	if rec.Rerun {
		return nil, UsageError{fmt.Errorf("--scheduler-release is for recordings, and %s is a scenario: use --release to play it under another release", rec.Name)}
	}
	return rec.WithRelease(release), nil
}
