package cycle

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
)

// noRecorder is an event recorder that records nothing. An Attempt contains the same information.
type noRecorder struct{}

// Eventf implements events.EventRecorder.
func (noRecorder) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

// WithLogger implements events.EventRecorderLogger.
func (r noRecorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }
