package shadow

import "time"

// Constants of the model. Those of the pace are in nominal.go and pace.go, those about silence in package channels, and those of the
// rate limit in package ratelimit. "Measured" is in recordings of clusters on one machine, where requests take no time on a network.

// How long the modelled scheduler takes for what it does besides. Measured: averages of real ones that logged at -v=6.
const (
	// requestTime is that of a request to the API server: 3 to 8 ms, and shortestRequest at the least.
	requestTime     = 5 * time.Millisecond
	shortestRequest = 3 * time.Millisecond
	// watchDelay is how long after the API server's answer the scheduler hears of a change by its watch, answerDelay
	// how long after the answer to its own request it goes on. Measured: medians in the recordings.
	watchDelay  = time.Millisecond
	answerDelay = 400 * time.Microsecond
	// heardEarlier is how long before the API server's answer a change can have reached the scheduler by its watch. Chosen, no
	// derivation yet; it holds where the source's clock is the API server's.
	heardEarlier = 10 * time.Millisecond
	// moveTime is for how long an event keeps the loop off the queue with each pod that it moves. Chosen, no
	// derivation yet.
	moveTime = 40 * time.Microsecond
	// terminationTime is how long a victim takes to end in a what-if, if its grace period is not shorter. Chosen: a
	// kubelet's may be all of the grace period.
	terminationTime = time.Second
)

// How far apart an attempt of the model and what is seen of the real one may be.
const (
	// soon is how near an attempt must be seen for the loop to begin it now. Chosen: two attempts on few nodes.
	soon = 2 * attemptTime
	// patchSlack is how long after the end of an attempt its patch is sent at the latest, unless the client's rate limit
	// holds it up. Chosen: the next thing that the attempt's goroutine does.
	patchSlack = 60 * time.Millisecond
	// unexpectedPatch is for how long after an attempt a patch that the model had not expected is taken to be its.
	// Chosen, no derivation yet.
	unexpectedPatch = 50 * time.Millisecond
	// crowding is how near the next failure or binding that is seen must be for each attempt before it to show, but
	// those that write nothing. Chosen, no derivation yet.
	crowding = 60 * time.Millisecond
	// mostHaste is how many times as fast as usual attempts are at the most. Chosen: from 3 to 10 it makes little difference.
	mostHaste = 5
	// catchUpLimit is how many pods the real loop may be ahead of the model's. Chosen, a bound on the work.
	catchUpLimit = 100
	// upcomingLimit is how many pods the model looks at to find the one that the loop takes. Chosen, likewise.
	upcomingLimit = 100
)

// For how long something that did not show yet may still show.
const (
	// patchPatience is by how much longer than in the model an unseen patch may take, writePatience the same of other
	// requests. Chosen, no derivation yet.
	patchPatience = 200 * time.Millisecond
	writePatience = 2 * time.Second
	// bindPatience is how long others may take to provide what a pod needs before it is bound, and as far as anybody
	// looks. Chosen; upstream's own limit is 600 s (VolumeBindingArgs, BindTimeoutSeconds).
	bindPatience = 10 * time.Second
	// newPod is how long ago a pod that comes may have been created to be new to the event recorder. Derived in half: a
	// creation's time has no fractions of a second.
	newPod = 2 * time.Second
)
