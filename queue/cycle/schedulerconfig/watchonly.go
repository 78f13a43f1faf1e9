//go:build watchonly

package schedulerconfig

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
)

// Profile is one of a scheduler's profiles: its plugins and their arguments are not read.
type Profile struct{ SchedulerName string }

// Extender is an extender. There are none.
type Extender struct{}

// ErrWatchOnly is why no configuration is read.
var ErrWatchOnly = errors.New("this schedq was built to watch only, and has no kube-scheduler to configure")

// Default returns the configuration of a kube-scheduler without a file and without feature gates.
func Default() (*Config, error) {
	return &Config{Queue: queue.Defaults(), Profiles: []Profile{{SchedulerName: "default-scheduler"}}, PercentageOfNodesToScore: new(int32), ClientQPS: 50, ClientBurst: 100}, nil
}

// Read returns ErrWatchOnly.
func Read(context.Context, string) (*Config, error) { return nil, ErrWatchOnly }

// SetFeatureGates returns ErrWatchOnly unless the list is empty.
func SetFeatureGates(list string) error {
	if strings.Trim(list, ", ") == "" {
		return nil
	}
	return ErrWatchOnly
}

// BindTimeout returns for how long a profile waits for a pod's volumes before it binds the pod: upstream's default
// (apis/config/v1/defaults.go, SetDefaults_VolumeBindingArgs).
func (*Config) BindTimeout(string) time.Duration { return 600 * time.Second }

// DeviceBindTimeout returns for how long a profile waits for a pod's devices before it binds the pod: upstream's default
// (apis/config/v1/defaults.go, SetDefaults_DynamicResourcesArgs).
func (*Config) DeviceBindTimeout(string) time.Duration { return 600 * time.Second }
