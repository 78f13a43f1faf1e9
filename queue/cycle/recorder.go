package cycle

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
)

// silent is an event recorder that records nothing: an Attempt tells what its events would say.
type silent struct{}

// Eventf implements events.EventRecorder.
func (silent) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

// WithLogger implements events.EventRecorderLogger.
func (s silent) WithLogger(klog.Logger) events.EventRecorderLogger { return s }
