// Package scenario reads and writes scenarios: a small cluster and what happens to it, in a YAML file that
// a person writes. No scheduler was recorded; a local one decides when a scenario is played.
//
// A file is a row of YAML documents and reads as a story. The first says what it is. Kubernetes objects are
// plain manifests, as `kubectl apply` takes them; those before the first moment are there from the start. A
// document with `at` or `when` is a moment, and the manifests behind it are applied then. docs/use/lessons.md
// describes the format.
package scenario

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Format names the format.
const Format = "scenario"

// Version is the version of the format that is written, and the only one that is read.
const Version = 1

// Bounds of one file.
const (
	maxFile    = 4 << 20 // bytes
	maxMoments = 10_000
	maxTime    = 24 * time.Hour
)

// defaultStart is the start of a scenario that does not specify one.
var defaultStart = time.Date(2026, time.January, 5, 10, 0, 0, 0, time.UTC)

// defaultRest is the time from the last moment of a scenario to its end, if it does not specify one.
const defaultRest = 30 * time.Second

// Scenario is the content of a file.
type Scenario struct {
	Name, Title, Description sources.SafeText
	// Release is the release whose queue it is played by. Empty is the newest.
	Release string
	// Start is the time at its beginning, End how long it lasts.
	Start time.Time
	End   time.Duration
	// PodInitialBackoff, PodMaxBackoff and PodMaxInUnschedulablePods are the scheduler's settings of those
	// names, negative where it has its default.
	PodInitialBackoff, PodMaxBackoff, PodMaxInUnschedulablePods time.Duration
	// Objects are there from the start.
	Objects []runtime.Object
	// Moments are what happens, in the order of the file.
	Moments []Moment
}

// Moment is what happens at one time.
type Moment struct {
	// Line is its line in the file. 0 if it is not from a file.
	Line int
	// At is when it happens, from the start on. With When, it is how long after that.
	At   time.Duration
	When *When
	// Mark names the moment. Delete are the objects that go, Objects those that come or change; in this order, and
	// before Inject and Activate.
	Mark    sources.SafeText
	Delete  []Object
	Objects []runtime.Object
	// Inject are what the queue does then without a change of the cluster, each one of injectable.Names; and Activate are pods
	// that are activated then.
	Inject   []string
	Activate []types.NamespacedName
}

// When is a pod's move that sets a moment off, once.
type When struct {
	Pod  types.NamespacedName
	Into sources.Tier
	// Nth is which of these moves it is, from 1.
	Nth int
}

// Object names an object.
type Object struct {
	Kind string
	types.NamespacedName
}

// Document is one document of a file, and the line that it begins in.
type Document struct {
	Line int
	Text []byte
	// Key is the first of its top-level keys.
	Key string
}
