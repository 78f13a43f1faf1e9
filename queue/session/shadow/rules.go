package shadow

import "time"

// Constants of the model. Those of the pace are in pace.go, and those of missing traces and of the rate
// limit in package evidence. "Measured" refers to recordings of clusters on one machine, without network
// latency.

// Durations of the scheduler's work other than attempts. Measured: averages of real schedulers at
// -v=6.
const (
	// requestTime is the duration of a request to the API server; measured: 3 to 8 ms.
	// shortestRequest is its lower bound.
	requestTime     = 5 * time.Millisecond
	shortestRequest = 3 * time.Millisecond
	// watchDelay is the time from the API server's answer until the scheduler's watch delivers the
	// change. answerDelay is the time from the answer to the scheduler's own request until the
	// scheduler continues. Measured: medians in the recordings.
	watchDelay  = time.Millisecond
	answerDelay = 400 * time.Microsecond
	// watchLead limits how long before the API server's answer the scheduler's watch can have
	// delivered a change. Chosen, not derived. It applies if the source uses the API server's
	// clock.
	watchLead = 10 * time.Millisecond
	// moveTime is how long an event blocks the scheduling loop for each pod that it moves. Chosen,
	// not derived.
	moveTime = 40 * time.Microsecond
	// terminationTime is how long a victim takes to terminate in a what-if, unless its grace period
	// is shorter. Chosen: a kubelet may take the whole grace period.
	terminationTime = time.Second
)

// Tolerances between an attempt of the model and the observations of the real one.
const (
	// soon is how near the observed end of an attempt must be for the loop to begin the attempt
	// now. Chosen: two attempts on few nodes.
	soon = 2 * attemptTime
	// patchSlack limits the time from the end of an attempt until its patch is sent, unless the
	// client's rate limit delays the patch. Chosen: the patch is the next action of the attempt's
	// goroutine.
	patchSlack = 60 * time.Millisecond
	// unexpectedPatch limits how long after an attempt the model attributes an unexpected patch to
	// that attempt. Chosen, not derived.
	unexpectedPatch = 50 * time.Millisecond
	// crowding is how far ahead the model looks for the next observed failure or binding. Within
	// it, every earlier attempt must leave a trace, except attempts that write nothing. Chosen, not
	// derived.
	crowding = 60 * time.Millisecond
	// mostHaste limits how many times faster than usual an attempt can be. Chosen: values from 3 to
	// 10 make little difference.
	mostHaste = 5
	// catchUpLimit limits how many pods the real loop can be ahead of the model's loop. Chosen to
	// bound the work.
	catchUpLimit = 100
	// upcomingLimit limits how many pods the model examines to find the one that the loop takes.
	// Chosen to bound the work.
	upcomingLimit = 100
)

// How long a missing trace may still appear.
const (
	// patchPatience is how much longer than in the model a patch that is not yet observed may take;
	// writePatience is the same for other requests. Chosen, not derived.
	patchPatience = 200 * time.Millisecond
	writePatience = 2 * time.Second
	// bindPatience limits how long a pod's external prerequisites may take before it is bound. It
	// also limits how far ahead the model looks. Chosen; upstream's own limit is 600 s
	// (VolumeBindingArgs, BindTimeoutSeconds).
	bindPatience = 10 * time.Second
	// newPod limits the age at which an added pod counts as new to the event recorder. Partly
	// derived: creation timestamps have no fractions of a second.
	newPod = 2 * time.Second
)
