package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Version is the version of the format that schedq writes, and the newest that it reads.
const Version = 1

// header is the first line.
type header struct {
	Schedq  string `json:"schedq"` // always "trace"
	Version int    `json:"version"`
}

// record is every other line: a time and one fact.
type record struct {
	Time      time.Time         `json:"time"`
	Scheduler *scheduler        `json:"scheduler,omitempty"`
	Verb      sources.Verb      `json:"verb,omitempty"`
	Object    json.RawMessage   `json:"object,omitempty"`
	Notes     map[string]string `json:"notes,omitempty"`
	Delivered *time.Time        `json:"delivered,omitempty"`
	Sent      *time.Time        `json:"sent,omitempty"`
	Failed    *attempt          `json:"failed,omitempty"`
	Patched   *attempt          `json:"patched,omitempty"`
	Refused   *attempt          `json:"refused,omitempty"`
	Tried     *tried            `json:"tried,omitempty"`
	Attached  *attached         `json:"attached,omitempty"`
	Bound     *bound            `json:"bound,omitempty"`
	Logged    *logged           `json:"logged,omitempty"`
	Dumped    *dumped           `json:"dumped,omitempty"`
	Discarded *discarded        `json:"discarded,omitempty"`
	Heard     *heard            `json:"heard,omitempty"`
	Silent    *silent           `json:"silent,omitempty"`
	Unheard   *unheard          `json:"unheard,omitempty"`
	Clocks    *clocks           `json:"clocks,omitempty"`
	Requested *requested        `json:"requested,omitempty"`
	Move      *move             `json:"move,omitempty"`
	Counts    *counts           `json:"counts,omitempty"`
	Mark      *mark             `json:"mark,omitempty"`
	End       *struct{}         `json:"end,omitempty"`
}

type scheduler struct {
	Release                   string                `json:"release,omitempty"`
	ReleaseInferred           bool                  `json:"releaseInferred,omitempty"`
	From                      sources.ReleaseSource `json:"from,omitempty"`
	Gates                     map[string]bool       `json:"gates,omitempty"`
	PodInitialBackoff         duration              `json:"podInitialBackoff,omitempty"`
	PodMaxBackoff             duration              `json:"podMaxBackoff,omitempty"`
	PodMaxInUnschedulablePods duration              `json:"podMaxInUnschedulablePods,omitempty"`
}

// attempt is a failed attempt, or the status patch or Event about one.
type attempt struct {
	Pod     string     `json:"pod"`
	UID     string     `json:"uid,omitempty"`
	Message string     `json:"message,omitempty"`
	Version string     `json:"version,omitempty"`
	Count   int        `json:"count,omitempty"`
	Sent    *time.Time `json:"sent,omitempty"`
	Binding bool       `json:"binding,omitempty"`
	Clears  bool       `json:"clears,omitempty"`
	Node    string     `json:"node,omitempty"`
	Heard   *time.Time `json:"heard,omitempty"`

	Log     bool         `json:"log,omitempty"`
	Error   bool         `json:"error,omitempty"`
	Began   *time.Time   `json:"began,omitempty"`
	Plugins []string     `json:"plugins,omitempty"`
	To      sources.Tier `json:"to,omitempty"`
}

// bound is the binding of a pod in the scheduler's log.
type bound struct {
	Pod   string     `json:"pod"`
	UID   string     `json:"uid,omitempty"`
	Node  string     `json:"node,omitempty"`
	Began *time.Time `json:"began,omitempty"`
}

// logged is the verbosity of the scheduler's log from then on.
type logged struct {
	Verbosity int `json:"verbosity"`
}

// tried is a pod's failed attempts from before the source attached.
type tried struct {
	Pod      string     `json:"pod"`
	UID      string     `json:"uid,omitempty"`
	Attempts int        `json:"attempts"`
	First    *time.Time `json:"first,omitempty"`
	Failed   *time.Time `json:"failed,omitempty"`
	Message  string     `json:"message,omitempty"`
	Version  string     `json:"version,omitempty"`
	Count    int        `json:"count,omitempty"`
}

// requested is a request of the scheduler.
type requested struct{}

// heard is the release of a running scheduler.
type heard struct {
	Release         string                `json:"release"`
	ReleaseInferred bool                  `json:"releaseInferred,omitempty"`
	From            sources.ReleaseSource `json:"from,omitempty"`
}

// silent is the time of the last sign of a scheduler, or that it is active again.
type silent struct {
	Since   *time.Time `json:"since,omitempty"`
	Profile string     `json:"profile,omitempty"`
	Ended   bool       `json:"ended,omitempty"`
}

// unheard is a gap in the changes of a resource.
type unheard struct {
	Of    string     `json:"of,omitempty"`
	Since time.Time  `json:"since"`
	Until *time.Time `json:"until,omitempty"`
}

// clocks is how far the times are ahead of the scheduler's clock, as a Go duration: "-1.5s".
type clocks struct {
	Ahead string `json:"ahead"`
}

type attached struct {
	Began *time.Time `json:"began,omitempty"`
	Nodes bool       `json:"nodes,omitempty"`
}

type move struct {
	Pod          string       `json:"pod"`
	To           sources.Tier `json:"to"`
	Event        string       `json:"event,omitempty"`
	Restated     bool         `json:"restated,omitempty"`
	Plugins      []string     `json:"plugins,omitempty"`
	GatingPlugin string       `json:"gatingPlugin,omitempty"`
	Message      string       `json:"message,omitempty"`
	Node         string       `json:"node,omitempty"`
	Unplaced     bool         `json:"unplaced,omitempty"`
}

type counts struct {
	Active        int `json:"active"`
	Backoff       int `json:"backoff"`
	Unschedulable int `json:"unschedulable"`
	Gated         int `json:"gated"`
}

type mark struct {
	Text string `json:"text"`
}

// duration is a time.Duration as Go writes it, "1m30s"; empty if not known.
type duration string

func newDuration(d time.Duration) duration {
	if d < 0 {
		return ""
	}
	return duration(d.String())
}

func (d duration) parse() (time.Duration, error) {
	if d == "" {
		return -1, nil
	}
	out, err := time.ParseDuration(string(d))
	if err != nil || out < 0 {
		return 0, fmt.Errorf("\"%.40s\" is not a duration", sources.Sanitize(string(d)))
	}
	return out, nil
}

// encode returns an event's record. It trims objects again, so that no untrimmed object gets into
// a trace.
func encode(e sources.Event) (*record, error) {
	r := &record{Time: e.Time.UTC()}
	switch f := e.Fact.(type) {
	case *sources.SchedulerStarted:
		r.Scheduler = &scheduler{Release: string(f.Release), ReleaseInferred: f.ReleaseInferred, From: f.From, Gates: f.Gates,
			PodInitialBackoff: newDuration(f.PodInitialBackoff), PodMaxBackoff: newDuration(f.PodMaxBackoff),
			PodMaxInUnschedulablePods: newDuration(f.PodMaxInUnschedulablePods)}
	case *sources.SchedulerRunning:
		r.Heard = &heard{string(f.Release), f.ReleaseInferred, f.From}
	case *sources.Silent:
		r.Silent = &silent{nilIfZero(f.Since), f.Profile, f.Ended}
	case *sources.WatchGap:
		r.Unheard = &unheard{f.Resource, f.Since.UTC(), nilIfZero(f.Until)}
	case *sources.Clocks:
		r.Clocks = &clocks{f.Ahead.String()}
	case *sources.ObjectChange:
		obj, err := sources.Trim(f.Object)
		if err != nil {
			return nil, err
		}
		if m := obj.(metav1.Object); len(m.GetAnnotations()) > 0 {
			r.Notes = m.GetAnnotations()
			obj = obj.DeepCopyObject()
			obj.(metav1.Object).SetAnnotations(nil)
		}
		r.Verb, r.Delivered, r.Sent = f.Verb, nilIfZero(f.Delivered), nilIfZero(f.Sent)
		if r.Object, err = json.Marshal(obj); err != nil {
			return nil, err
		}
	case *sources.FailedAttempt:
		r.Failed = &attempt{Pod: f.Pod.String(), UID: string(f.UID), Message: string(f.Message), Version: f.Version, Count: f.Count,
			Log: f.Log, Error: f.Error, Began: nilIfZero(f.Began), Heard: nilIfZero(f.Received), Plugins: f.Plugins, To: f.To}
	case *sources.Bound:
		r.Bound = &bound{f.Pod.String(), string(f.UID), f.Node, nilIfZero(f.Began)}
	case *sources.Logged:
		r.Logged = &logged{f.Verbosity}
	case *sources.Dumped:
		r.Dumped = &dumped{f.Pod.String(), string(f.UID), f.In}
	case *sources.Discarded:
		r.Discarded = &discarded{f.Pod.String()}
	case *sources.StatusPatched:
		r.Patched = &attempt{Pod: f.Pod.String(), UID: string(f.UID), Sent: nilIfZero(f.Sent), Clears: f.Clears}
	case *sources.Refused:
		r.Refused = &attempt{Pod: f.Pod.String(), UID: string(f.UID), Sent: nilIfZero(f.Sent), Binding: f.Binding, Node: f.Node}
	case *sources.Requested:
		r.Requested = &requested{}
	case *sources.Tried:
		r.Tried = &tried{Pod: f.Pod.String(), UID: string(f.UID), Attempts: f.Attempts, First: nilIfZero(f.First), Failed: nilIfZero(f.Failed), Message: string(f.Message), Version: f.Version, Count: f.Count}
	case *sources.Attached:
		r.Attached = &attached{Began: nilIfZero(f.Began), Nodes: f.Nodes}
	case *sources.Move:
		r.Move = &move{Pod: f.Pod.String(), To: f.To, Event: f.Event, Restated: f.Restated, Plugins: f.Plugins,
			GatingPlugin: f.GatingPlugin, Message: string(f.Message), Node: f.Node, Unplaced: f.Unplaced}
	case *sources.Counts:
		r.Counts = &counts{f.Active, f.Backoff, f.Unschedulable, f.Gated}
	case *sources.Mark:
		r.Mark = &mark{string(f.Text)}
	default:
		return nil, fmt.Errorf("a trace has no record for %T", f)
	}
	return r, nil
}

// knownSource returns from, or "" if that is of a later format.
func knownSource(from sources.ReleaseSource) sources.ReleaseSource {
	if !from.Known() {
		return ""
	}
	return from
}

func (s *scheduler) fact() (sources.Fact, error) {
	f := &sources.SchedulerStarted{Release: sources.Sanitize(s.Release), ReleaseInferred: s.ReleaseInferred, From: knownSource(s.From)}
	for name, on := range s.Gates {
		if f.Gates == nil {
			f.Gates = map[string]bool{}
		}
		f.Gates[safe(name)] = on
	}
	var err error
	if f.PodInitialBackoff, err = s.PodInitialBackoff.parse(); err != nil {
		return nil, err
	}
	if f.PodMaxBackoff, err = s.PodMaxBackoff.parse(); err != nil {
		return nil, err
	}
	f.PodMaxInUnschedulablePods, err = s.PodMaxInUnschedulablePods.parse()
	return f, err
}

func (a *attempt) failed() (sources.Fact, error) {
	pod, err := sources.ParseShownPod(a.Pod)
	if err != nil {
		return nil, err
	}
	f := &sources.FailedAttempt{Pod: pod, UID: types.UID(safe(a.UID)), Message: sources.Sanitize(a.Message), Recorded: sources.NewRecorded(a.Version, a.Count),
		Log: a.Log, Error: a.Error, Plugins: sortedSafe(a.Plugins), To: a.To}
	if a.To != "" && !a.To.Known() {
		return nil, fmt.Errorf("\"%.40s\" is no tier", sources.Sanitize(string(a.To)))
	}
	if f.Began, err = timeOf(a.Began); err != nil {
		return nil, err
	}
	f.Received, err = timeOf(a.Heard)
	return f, err
}

func (b *bound) fact() (sources.Fact, error) {
	pod, err := sources.ParseShownPod(b.Pod)
	if err != nil {
		return nil, err
	}
	f := &sources.Bound{Pod: pod, UID: types.UID(safe(b.UID)), Node: safe(b.Node)}
	f.Began, err = timeOf(b.Began)
	return f, err
}

// dumped is a pod in a dump of the scheduler's queue.
type dumped struct {
	Pod string       `json:"pod"`
	UID string       `json:"uid,omitempty"`
	In  sources.Tier `json:"in"`
}

func (d *dumped) fact() (sources.Fact, error) {
	pod, err := sources.ParseShownPod(d.Pod)
	if err == nil && !d.In.Known() {
		err = fmt.Errorf("\"%.40s\" is no tier", sources.Sanitize(string(d.In)))
	}
	return &sources.Dumped{Pod: pod, UID: types.UID(safe(d.UID)), In: d.In}, err
}

// discarded is a pod that the scheduler dropped from its queue.
type discarded struct {
	Pod string `json:"pod"`
}

func (d *discarded) fact() (sources.Fact, error) {
	pod, err := sources.ParseShownPod(d.Pod)
	return &sources.Discarded{Pod: pod}, err
}

// timeOf returns t in UTC, or the zero time if it is nil.
func timeOf(t *time.Time) (time.Time, error) {
	if t == nil {
		return time.Time{}, nil
	}
	return t.UTC(), sources.CheckTime(*t)
}

// sortedSafe returns names safe to show, sorted. Nil if there are none.
func sortedSafe(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, safe(n))
	}
	slices.Sort(out)
	return out
}

func (a *attempt) patched() (sources.Fact, error) {
	pod, err := sources.ParseShownPod(a.Pod)
	if err != nil {
		return nil, err
	}
	f := &sources.StatusPatched{Pod: pod, UID: types.UID(safe(a.UID)), Clears: a.Clears}
	f.Sent, err = timeOf(a.Sent)
	return f, err
}

func (a *attempt) refused() (sources.Fact, error) {
	pod, err := sources.ParseShownPod(a.Pod)
	if err != nil {
		return nil, err
	}
	f := &sources.Refused{Pod: pod, UID: types.UID(safe(a.UID)), Binding: a.Binding, Node: safe(a.Node)}
	f.Sent, err = timeOf(a.Sent)
	return f, err
}

func (t *tried) fact() (sources.Fact, error) {
	pod, err := sources.ParseShownPod(t.Pod)
	if err != nil {
		return nil, err
	}
	if t.Attempts < 0 || t.Attempts > math.MaxInt32 {
		return nil, fmt.Errorf("invalid number of attempts %d", t.Attempts)
	}
	f := &sources.Tried{Pod: pod, UID: types.UID(safe(t.UID)), Attempts: t.Attempts, Message: sources.Sanitize(t.Message), Recorded: sources.NewRecorded(t.Version, t.Count)}
	for _, at := range []struct {
		from *time.Time
		to   *time.Time
	}{{t.First, &f.First}, {t.Failed, &f.Failed}} {
		if *at.to, err = timeOf(at.from); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (a *attached) fact() (sources.Fact, error) {
	began, err := timeOf(a.Began)
	return &sources.Attached{Began: began, Nodes: a.Nodes}, err
}

func (q *silent) fact() (sources.Fact, error) {
	since, err := timeOf(q.Since)
	return &sources.Silent{Since: since, Profile: string(sources.Sanitize(q.Profile)), Ended: q.Ended}, err
}

func (c *clocks) fact() (sources.Fact, error) {
	ahead, err := time.ParseDuration(c.Ahead)
	if err != nil || ahead.Abs() > sources.FarApart {
		return nil, fmt.Errorf("invalid clock offset \"%.40s\": it is a Go duration of at most %s", sources.Sanitize(c.Ahead), sources.FarApart)
	}
	return &sources.Clocks{Ahead: ahead}, nil
}

func (u *unheard) fact() (sources.Fact, error) {
	until, err := timeOf(u.Until)
	if err == nil {
		err = sources.CheckTime(u.Since)
	}
	if err == nil && !until.IsZero() && until.Before(u.Since) {
		err = errors.New("a gap ends before it begins")
	}
	return &sources.WatchGap{Resource: string(sources.Sanitize(u.Of)), Gap: sources.Gap{Since: u.Since, Until: until}}, err
}

// nilIfZero returns t in UTC, or nil if t is zero.
func nilIfZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func (m *move) fact(pods map[string]types.NamespacedName) (sources.Fact, error) {
	pod, ok := pods[m.Pod]
	if !ok {
		var err error
		if pod, err = sources.ParseShownPod(m.Pod); err != nil {
			return nil, err
		}
		pods[m.Pod] = pod
	}
	f := &sources.Move{Pod: pod, To: m.To, Event: safe(m.Event), Restated: m.Restated,
		GatingPlugin: safe(m.GatingPlugin), Message: sources.Sanitize(m.Message), Node: safe(m.Node), Unplaced: m.Unplaced}
	f.Plugins = sortedSafe(m.Plugins)
	return f, nil
}

func (c *counts) fact() (sources.Fact, error) {
	if c.Active < 0 || c.Backoff < 0 || c.Unschedulable < 0 || c.Gated < 0 {
		return nil, fmt.Errorf("a count is negative")
	}
	return &sources.Counts{Active: c.Active, Backoff: c.Backoff, Unschedulable: c.Unschedulable, Gated: c.Gated}, nil
}

func safe(s string) string { return string(sources.Sanitize(s)) }
