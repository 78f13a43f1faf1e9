//go:build watchonly

package schedulerconfig

import (
	"testing"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
)

// TestWatchOnlyDefault: the defaults are upstream's.
func TestWatchOnlyDefault(t *testing.T) {
	want, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Profiles) != 1 || !c.HasProfile(want.Profiles[0].SchedulerName) || c.ClientQPS != want.ClientConnection.QPS || c.ClientBurst != want.ClientConnection.Burst {
		t.Errorf("%+v, want %+v", c, want)
	}
	q, on := c.Queue, utilfeature.DefaultFeatureGate.Enabled
	if q.PodInitialBackoff != time.Duration(want.PodInitialBackoffSeconds)*time.Second || q.PodMaxBackoff != time.Duration(want.PodMaxBackoffSeconds)*time.Second ||
		q.PopFromBackoffQ != on(features.SchedulerPopFromBackoffQ) || q.GenericWorkload != on(features.GenericWorkload) {
		t.Errorf("the queue has %+v, want %+v", q, want)
	}
}

// TestWatchOnlyRefused: a file and gates are refused, and nothing at all is none.
func TestWatchOnlyRefused(t *testing.T) {
	if _, err := Read(t.Context(), "testdata/scheduler.yaml"); err == nil {
		t.Error("a configuration is read")
	}
	if SetFeatureGates("") != nil || SetFeatureGates("SchedulerPopFromBackoffQ=false") == nil {
		t.Error("gates are set, or none are refused")
	}
}
