package session

import (
	"context"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/archive"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/cluster"
	"github.com/schedq/schedq/queue/session/explain"
	"github.com/schedq/schedq/queue/session/history"
	"github.com/schedq/schedq/queue/session/model"
	"github.com/schedq/schedq/queue/session/report"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
	"k8s.io/apimachinery/pkg/types"
)

// What frames, commands and reports are made of has its home in the rooms beneath. Screens and commands know it
// by these names, and need not know in which room it is.
type (
	Board     = board.Board
	Pod       = board.Pod
	Condition = board.Condition
	Group     = board.Group
	Grouping  = board.Grouping
	Column    = board.Column
	Sort      = board.Sort

	ForkComparison = board.Comparison
	ForkDifference = board.Difference

	Transition = board.Transition
	Log        = history.Log
	PastFile   = archive.File
	Tally      = history.Tally
	Options    = timeline.Options
	Preview    = timeline.Preview
	Draining   = timeline.Draining
	Watching   = timeline.Watching
	Silence    = timeline.Silence
	Mark       = timeline.Mark
	Zone       = words.Zone

	Moment      = explain.Moment
	Explanation = explain.Explanation
	Needs       = explain.Needs
	NodeNeeds   = explain.NodeNeeds
	Cluster     = explain.Cluster
	Node        = explain.Node

	Report        = report.Report
	AttemptReport = report.AttemptReport
	LongestReport = report.LongestReport
	Waiting       = report.Waiting
	WorthTally    = report.WorthTally
	Comparison    = report.Comparison
	PodComparison = report.PodComparison
	Outcome       = report.Outcome
	Verification  = report.Verification
	MoveAgreement = report.MoveAgreement
	Difference    = report.Difference
	Seconds       = report.Seconds
)

const (
	ByQueue     = board.ByQueue
	ByName      = board.ByName
	ByNamespace = board.ByNamespace
	ByPriority  = board.ByPriority
	ByWaiting   = board.ByWaiting
	ByDwell     = board.ByDwell
	ByAttempts  = board.ByAttempts
	ByExpiry    = board.ByExpiry
	ByPlugin    = board.ByPlugin
	ByOwner     = board.ByOwner
	ByNode      = board.ByNode

	PerPlugin    = board.PerPlugin
	PerNamespace = board.PerNamespace
	PerOwner     = board.PerOwner
)

// Columns returns all columns that a board can be sorted by.
func Columns() []Column { return board.Columns() }

// Groupings returns all groupings of a board's pods.
func Groupings() []Grouping { return board.Groupings() }

// NewGist returns the gist of a long recording, of which nothing was read: see files.Options.
func NewGist() *cluster.Gist { return cluster.NewGist() }

// Asks says what the pod asks of the cluster: see explain.Asks.
func Asks(p *Pod) []string { return explain.Asks(p) }

// Manifest is the pod's object in YAML: see explain.Manifest.
func Manifest(p *Pod) string { return explain.Manifest(p) }

// AnyAttempt is the beginning of any pod's next attempt.
func AnyAttempt() Condition { return board.AnyAttempt() }

// MovesOf is any move of the pod.
func MovesOf(pod types.NamespacedName) Condition { return board.MovesOf(pod) }

// ParseCondition reads a condition to run until: see board.ParseCondition. What is wrong with it comes as a
// *filter.Error.
func ParseCondition(text string) (Condition, error) { return board.ParseCondition(text) }

// ClusterEvents returns the labels of the cluster events that can be injected, in upstream's spelling.
func ClusterEvents() []string { return queue.InjectableLabels() }

// RejectorPlugins returns the names of the in-tree plugins that can reject a pod, by how often one meets them.
func RejectorPlugins() []string { return cluster.RejectorPlugins() }

// FindPod returns the pod of rec that a person calls name: see cluster.FindPod.
func FindPod(ctx context.Context, rec *sources.Recording, name string) (types.NamespacedName, error) {
	return cluster.FindPod(ctx, rec, name)
}

// ParseZone returns the time zone that a person names: see words.ParseZone.
func ParseZone(name string) (Zone, error) { return words.ParseZone(name) }

// TierNamed is the word for the tier of that name in JSON: see docs/reference/glossary.md.
func TierNamed(name string) string { return words.TierNamed(name) }

// Notices returns what a person should know of rec: what its readers noticed, and what it lacks.
func Notices(rec *sources.Recording) []string { return report.Notices(rec) }

// NewWorthTally returns the tally of a recording of which no event was told: it says what that has, and what it lacks.
func NewWorthTally() *report.WorthTally { return report.NewWorthTally() }

// Span returns the first and the last moment of rec that is worth showing.
func Span(rec *sources.Recording) (start, end time.Time) { return timeline.Span(rec) }

// Replay runs rec from its first event to its last, without a screen: see timeline.Replay.
func Replay(ctx context.Context, rec *sources.Recording, opts Options, each func(*Transition) error) error {
	return timeline.Replay(ctx, rec, opts, each)
}

// Follow runs stream and the model of it in real time until ctx ends: see timeline.Follow.
func Follow(ctx context.Context, stream sources.Stream, opts Options, w Watching) error {
	return timeline.Follow(ctx, stream, opts, w)
}

// Drain runs stream and takes what it tells, without a model of it: see timeline.Drain.
func Drain(ctx context.Context, stream sources.Stream, d Draining) error {
	return timeline.Drain(ctx, stream, d)
}

// Collect watches stream for as long as d says, and returns what it told as a recording.
func Collect(ctx context.Context, stream sources.Stream, d Draining) (*sources.Recording, error) {
	return timeline.Collect(ctx, stream, d)
}

// Rerun returns rec without what its scheduler did: see model.Rerun.
func Rerun(rec *sources.Recording, release string) (*sources.Recording, error) {
	return model.Rerun(rec, release)
}

// Summarize replays rec and reports on it: see report.Summarize.
func Summarize(ctx context.Context, rec *sources.Recording, opts Options) (*Report, error) {
	return report.Summarize(ctx, rec, opts)
}

// Verify replays rec and truth, and compares the moves: see report.Verify.
func Verify(ctx context.Context, rec, truth *sources.Recording, opts Options, most int) (*Verification, error) {
	return report.Verify(ctx, rec, truth, opts, most)
}

// Compare runs rec again as from says and as to says: see report.Compare.
func Compare(ctx context.Context, rec *sources.Recording, from, to Options) (*Comparison, error) {
	return report.Compare(ctx, rec, from, to)
}
