package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
)

// RegisterRelease adds --scheduler-release to cmd, unless it has it: of which release the scheduler is that was recorded or is
// watched. --release asks for another one, under which a recording is run again.
func RegisterRelease(cmd *cobra.Command) {
	if cmd.Flags().Lookup("scheduler-release") == nil {
		cmd.Flags().String("scheduler-release", "", "the release of the scheduler that was recorded or is watched, such as v1.31.4, where that is not found or not rightly")
	}
}

// maxRelease is how long a release may be, v1.31.4-eks-1234567 for one.
const maxRelease = 64

// SchedulerRelease is what --scheduler-release says. Empty is that it says nothing.
func SchedulerRelease(cmd *cobra.Command) (sources.SafeText, error) {
	text, _ := cmd.Flags().GetString("scheduler-release")
	if text == "" {
		return "", nil
	}
	release := "v" + strings.TrimPrefix(text, "v")
	if name, _ := queue.ReleaseFor(release); name == "" || len(release) > maxRelease {
		return "", Usagef("--scheduler-release %s is no release of kube-scheduler, such as v1.31 or v1.31.4", sources.Sanitize(text))
	}
	return sources.Sanitize(release), nil
}

// WithRelease returns rec as a recording of a scheduler of the release that cmd's flag says, if it says one.
func WithRelease(cmd *cobra.Command, rec *sources.Recording) (*sources.Recording, error) {
	release, err := SchedulerRelease(cmd)
	if err != nil || release == "" {
		return rec, err
	}
	if rec.Rerun {
		return nil, UsageError{fmt.Errorf("--scheduler-release is of a scheduler that was recorded, and %s is a scenario: --release plays it under another release", rec.Name)}
	}
	return rec.WithRelease(release), nil
}
