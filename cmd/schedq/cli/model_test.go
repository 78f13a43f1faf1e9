package cli

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"

	"github.com/schedq/schedq/queue/cycle/schedulerconfig"
)

// loadModel loads the scheduler configuration that a command line sets.
func loadModel(t *testing.T, args ...string) (*schedulerconfig.Config, error) {
	t.Helper()
	var f Model
	cmd := &cobra.Command{}
	f.Register(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return f.load(t.Context())
}

func TestModelFlags(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.SchedulerPopFromBackoffQ, true)
	file := filepath.Join("..", "..", "..", "queue", "cycle", "schedulerconfig", "testdata", "scheduler.yaml")
	for _, c := range []struct {
		args []string
		pop  bool
		max  time.Duration
	}{
		{nil, true, 10 * time.Second},
		{[]string{"--scheduler-config", file}, true, time.Minute},
		{[]string{"--scheduler-config", file, "--feature-gates", "SchedulerPopFromBackoffQ=false"}, false, time.Minute},
		{[]string{"--feature-gates", "SchedulerPopFromBackoffQ=true"}, true, 10 * time.Second},
	} {
		config, err := loadModel(t, c.args...)
		if err != nil || config.Queue.PopFromBackoffQ != c.pop || config.Queue.PodMaxBackoff != c.max {
			t.Errorf("%s: %+v, %v", strings.Join(c.args, " "), config, err)
		}
	}
}

// TestModelErrors: an invalid gate is a usage error, an unreadable file is not.
func TestModelErrors(t *testing.T) {
	for _, c := range []struct {
		args  []string
		usage bool
		want  string
	}{
		{[]string{"--feature-gates", "SchedulerPopFromBackoffQ=maybe"}, true, `--feature-gates: feature gate SchedulerPopFromBackoffQ is "maybe", want true or false`},
		{[]string{"--feature-gates", "CompositePodGroup=true", "--scheduler-config", "missing.yaml"}, true, "--feature-gates: feature gate CompositePodGroup must be false: schedq does not model the scheduling queue with it"},
		{[]string{"--scheduler-config", "missing.yaml"}, false, "missing.yaml: no such file or directory"},
	} {
		_, err := loadModel(t, c.args...)
		var usage UsageError
		if err == nil || err.Error() != c.want || errors.As(err, &usage) != c.usage {
			t.Errorf("%s: %v, want %s", strings.Join(c.args, " "), err, c.want)
		}
	}
}
