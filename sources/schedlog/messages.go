package schedlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

const (
	// maxPods bounds what is remembered of pods between lines. Beyond it the parser forgets, and moves
	// lose their plugins and messages, not more.
	maxPods = 200_000
	// maxPlugins is how many plugins of one failure are kept.
	maxPlugins = 200

	failure = "ScheduleAttemptFailure"
	noNodes = "no nodes are registered to the cluster"

	errorText = `Error scheduling pod; retrying"`
)

// pod is what earlier lines contain about a pod.
type pod struct {
	name     types.NamespacedName
	plugins  []string         // that rejected it in the attempt under way
	message  sources.SafeText // of the attempt under way
	gatedBy  string           // the PreEnqueue plugin that just said no
	gateText sources.SafeText
	failed   *sources.Move // the attempt's outcome, once logged
	failedAt time.Time     // of that
	last     *sources.Move // its last move
	requeued *sources.Move // the last one into activeQ or backoffQ

	began   time.Time // when the current attempt began, if logged
	entered bool      // its move to activeQ or backoffQ was logged
}

// isLast reports whether kube-scheduler logs in a line that it ends, at any verbosity (cmd/kube-scheduler/app/server.go, Run).
func isLast(h *header) bool {
	switch begin := bytes.TrimPrefix(h.rest, []byte(`"`)); {
	case len(begin) == 0:
		return false
	case begin[0] != 'c' && begin[0] != 'R' && begin[0] != 'L' && begin[0] != 'l': // as of nearly all lines
		return false
	}
	for _, text := range []string{
		`"command failed" err="finished without leader elect"`, `"command failed" err="lost lease"`,
		`"Requested to terminate, exiting"`, `"Leaderelection lost"`,
	} {
		if bytes.HasPrefix(h.rest, []byte(text)) {
			return true
		}
	}
	if !bytes.Contains(h.place, []byte(" server.go:")) { // other components log the same texts elsewhere
		return false
	}
	switch string(bytes.TrimSpace(h.rest)) {
	case "Requested to terminate. Exiting.", "leaderelection lost", "lost master": // v1.21, v1.14 to v1.21, up to v1.13
		return true
	}
	return false
}

// ends reads the line with which kube-scheduler ends.
func (p *parser) ends(h *header) error {
	if again, err := p.again(h); again {
		return err
	}
	p.now = p.clock.time(h)
	if p.moves > 0 || len(p.pods) > 0 { // a standby ends beside the scheduler that leads
		p.emit(&sources.Silent{Since: p.now, Ended: true})
	}
	return nil
}

// underWay returns what is to be remembered of the pod's attempt alone.
func (p *pod) underWay() *pod { return &pod{name: p.name, began: p.began, entered: p.entered} }

// message reads a structured line. known is true if only kube-scheduler writes such a line.
func (p *parser) message(h *header) (known bool, err error) {
	rest := h.rest[1:]
	if after, ok := bytes.CutPrefix(rest, []byte(`Starting Kubernetes Scheduler"`)); ok {
		if again, err := p.again(h); again {
			return true, err
		}
		p.now = p.clock.time(h)
		p.start(after)
		return true, nil
	}
	if err := p.lease(h); err != nil { // other programs have such lines, too
		return false, err
	}
	if after, ok := bytes.CutPrefix(rest, []byte(`Dump of scheduling queue"`)); ok {
		if again, err := p.again(h); again {
			return true, err
		}
		p.now = p.clock.time(h)
		if !p.dump(after) {
			return true, p.lines.Unread(errLacks)
		}
		return true, nil
	}
	if bytes.HasPrefix(rest, []byte(`Using component config"`)) {
		p.block = p.settings.config
		return false, nil
	}
	if err := p.heard(h, rest); err != nil {
		return false, err
	}
	key := ` pod="`
	if after, ok := bytes.CutPrefix(rest, []byte(`Entity moved to an internal scheduling queue`)); ok {
		p.entity = true
		if !bytes.Contains(after, []byte(` type="pod"`)) {
			if !bytes.Contains(after, []byte(` type="`)) {
				return true, p.lines.Unread(errLacks)
			}
			return true, nil // a pod group
		}
		key = ` entity="`
	}
	if after, ok := bytes.CutPrefix(rest, []byte(`Discarding the popped `)); ok {
		if rest = discarded(after); rest == nil {
			return true, nil // a pod group, whose members have lines of their own
		}
	}
	rest, handle := p.ofPod(rest)
	if handle == nil {
		return false, nil
	}
	if !keyFollows(rest) {
		return false, p.lines.Unread(errLacks)
	}
	name := value(rest, key)
	if name == nil {
		if bytes.HasSuffix(rest, []byte("=<")) {
			return false, nil // it is behind a text of several lines
		}
		return false, p.lines.Unread(errLacks)
	}
	pod, err := p.pod(name)
	if err != nil {
		return true, p.lines.Unread(err)
	}
	if again, err := p.again(h); again {
		return true, err
	}
	if p.ofPods++; !p.beforeMoves {
		p.beforeMoves = isBeforeMoves(h.place)
	}
	before := p.now
	p.now = p.clock.time(h)
	if p.now.Before(before) {
		p.early++
		p.part.Saw(before)
		p.part.Saw(p.now)
		p.clock.goesBack(before, p.now)
	}
	if !p.follows {
		p.sample.add(p.identity.hash, p.now)
	}
	p.lacks = false
	handle(pod, rest)
	if p.lacks {
		return true, p.lines.Unread(errLacks)
	}
	return true, nil
}

// keyFollows reports whether a key and its value are what follows a message, of whose end rest may hold a little, as klog
// writes them: ` pod="`. If not, the line has been torn, and put together again from another place on.
func keyFollows(rest []byte) bool {
	if len(rest) > 0 && rest[0] != ' ' {
		_, rest, _ = bytes.Cut(rest, []byte(`"`))
	}
	return len(rest) > 1 && rest[0] == ' ' && ('a' <= rest[1] && rest[1] <= 'z' || 'A' <= rest[1] && rest[1] <= 'Z')
}

// ofPod returns what is behind the text of a message about a pod, and what reads it; nil of any other message. Most
// lines of a log are others, so it looks at the first letter before it looks at the rest.
func (p *parser) ofPod(rest []byte) (after []byte, handle func(*pod, []byte)) {
	if len(rest) == 0 {
		return nil, nil
	}
	is := func(text string) (ok bool) {
		after, ok = bytes.CutPrefix(rest, []byte(text))
		return ok
	}
	switch c := rest[0]; {
	case c == 'A' && is(`Attempting to schedule pod"`):
		return after, p.attempting
	case c == 'C' && is(`Checking events for in-flight pod"`):
		return after, p.checking
	case (c == 'T' || c == 't') && is(string(c)+discardedText):
		return after, p.discarded
	case c == 'D' && is(`Delete event for unscheduled pod"`):
		return after, p.deleted
	case c == 'P' && is(`Pod doesn't exist in informer cache"`):
		return after, p.ended
	case c == 'E' && is(`Entity moved to an internal scheduling queue`), c == 'P' && is(`Pod moved to an internal scheduling queue`):
		return after, p.moved
	case c == 'E' && is(errorText):
		return after, p.failing
	case c == 'U' && is(`Unable to schedule pod`):
		return after, p.unable
	case c == 'S' && is(`Successfully bound pod to node"`):
		return after, p.bound
	case c == 'S' && is(`Status after running PreEnqueue plugin"`):
		return after, p.gating
	case c == 'U' && is(`Updating pod condition`):
		return after, p.condition
	}
	return nil, nil
}

// discardedText follows the first letter of the message with which Pop drops a pod whose attempt before is not done: "the" up to v1.33,
// "The" in v1.34 and v1.35 (backend/queue/active_queue.go, unlockedPop).
const discardedText = `he same pod is tracked in multiple places in the scheduler, and just discard it"`

// discarded returns the line of a pod that Pop drops in the wording of v1.35. rest is what follows "Discarding the popped ": v1.36
// names the pod only in the error, v1.37 also as the entity, and a member of a pod group in a line of its own. It is nil if the
// line names no pod.
func discarded(rest []byte) []byte {
	name := value(rest, ` pod="`)
	if name == nil {
		_, name, _ = bytes.Cut(value(rest, ` err="`), []byte("the same pod is tracked in multiple places in the scheduler: "))
	}
	if len(name) == 0 {
		return nil
	}
	return fmt.Appendf(nil, "T%s pod=%q", discardedText, name)
}

// discarded reads the line of a pod that the scheduler drops from its queue.
func (p *parser) discarded(pod *pod, _ []byte) {
	p.leadsNow()
	p.emit(&sources.Discarded{Pod: pod.name})
}

// pod returns what is known of the pod, checking a name that is seen for the first time.
func (p *parser) pod(name []byte) (*pod, error) {
	if known := p.pods[string(name)]; known != nil {
		return known, nil
	}
	parsed, err := sources.ParsePod(string(name))
	if err != nil && p.redacted && !bytes.HasSuffix(name, []byte("=")) { // that is the key behind a value that was torn off
		if parsed, err = sources.SafePod(string(name)), nil; p.unusual == "" {
			p.unusual = parsed.String()
		}
	}
	if err != nil {
		return nil, err
	}
	if len(p.pods) >= maxPods {
		clear(p.pods)
	}
	known := &pod{name: parsed}
	p.pods[string(name)] = known
	return known, nil
}

// move emits a move of the pod.
func (p *parser) move(pod *pod, m *sources.Move) {
	m.Pod = pod.name
	pod.last = m
	if m.To == sources.TierActive || m.To == sources.TierBackoff {
		pod.requeued = m
	}
	p.moves++
	p.emit(m)
}

// reset forgets: a scheduler that starts has an empty queue.
func (p *parser) reset() {
	p.pods = map[string]*pod{}
	p.settings = newSettings()
}

func (p *parser) start(rest []byte) {
	fact := p.settings.fact(string(value(rest, ` version="`)))
	p.election.startsAt(p.now, fact)
	p.started = append(p.started, fact)
	p.reset()
	p.emit(fact)
}

func (p *parser) attempting(pod *pod, _ []byte) {
	p.leadsNow()
	p.verbosity.settle()
	pod.plugins, pod.message, pod.failed, pod.began = nil, "", nil, p.now
	p.move(pod, &sources.Move{To: sources.TierInFlight})
}

// begins takes the unstructured line that an attempt of the pod of that name begins, as v1.19 has it.
func (p *parser) begins(h *header, name []byte) error {
	pod, err := p.pod(bytes.TrimSpace(name))
	if err != nil {
		return nil
	}
	if again, err := p.again(h); again {
		return err
	}
	p.now = p.clock.time(h)
	p.verbosity.settle()
	pod.plugins, pod.message, pod.failed, pod.began = nil, "", nil, p.now
	return nil
}

// isBeforeMoves reports whether a line about a pod is of v1.24 or older: later releases have it in schedule_one.go, and log moves.
func isBeforeMoves(source []byte) bool {
	return bytes.Contains(source, []byte(" scheduler.go:")) || bytes.Contains(source, []byte(" factory.go:"))
}

func (p *parser) checking(pod *pod, rest []byte) {
	pod.plugins = p.plugins(rest, ` unschedulablePlugins={`)
	p.verbosity.sawDeep(p.now, pod)
}

// failing reads the line of an attempt that failed with an error.
func (p *parser) failing(pod *pod, rest []byte) {
	p.unable(pod, rest)
	if f := p.verbosity.pending; f != nil && f.pod == pod {
		f.fact.Error = true
	}
}

// unable takes the explanation of a failure, which klog breaks over several lines if it has any.
func (p *parser) unable(pod *pod, rest []byte) {
	p.leadsNow()
	p.verbosity.failed(p.now, pod)
	if bytes.HasPrefix(rest, []byte("; "+noNodes)) {
		pod.message = noNodes // such a line has no err
		return
	}
	if !bytes.Contains(rest, []byte(` err=<`)) {
		if text := value(rest, ` err="`); string(pod.message) != string(text) {
			pod.message = sources.Sanitize(string(text))
		}
		return
	}
	var all []byte
	p.block = func(line []byte) {
		if len(all) < sources.MaxText && !bytes.Equal(bytes.TrimSpace(line), []byte(">")) {
			all = append(bytes.TrimSpace(append(all, ' ')), bytes.TrimSpace(line)...)
			pod.message = sources.Sanitize(string(all))
		}
	}
}

func (p *parser) gating(pod *pod, rest []byte) {
	pod.gatedBy = p.names.intern(value(rest, ` plugin="`))
	pod.gateText = sources.Sanitize(string(value(rest, ` status="`)))
}

func (p *parser) bound(pod *pod, rest []byte) {
	p.leadsNow()
	node := value(rest, ` node="`)
	name := p.names.intern(node)
	if len(p.places) < maxPlaces {
		p.places[pod.name] = p.now
	}
	p.verbosity.bound(p.now, pod, name)
	p.move(pod, &sources.Move{To: sources.TierScheduled, Node: name})
	delete(p.pods, pod.name.String())
}

// deleted reads a deletion. kube-scheduler logs it for bound pods too: they are no longer unscheduled.
func (p *parser) deleted(pod *pod, _ []byte) {
	p.move(pod, &sources.Move{To: sources.TierDeleted})
	if pod.began.IsZero() {
		delete(p.pods, pod.name.String())
		return
	}
	p.pods[pod.name.String()] = pod.underWay() // its attempt has yet to say how it ended
}

// ended reads the line of an attempt that failed after its pod was deleted (schedule_one.go, handleSchedulingFailure).
func (p *parser) ended(pod *pod, _ []byte) {
	p.retract(pod)
	m := &sources.Move{To: sources.TierDeleted, Event: failure}
	pod.failed = m
	p.move(pod, m)
	delete(p.pods, pod.name.String())
}

// condition comes after the move, and says where a preemptor was nominated.
func (p *parser) condition(pod *pod, rest []byte) {
	node := value(rest, ` nominatedNodeName="`)
	if len(node) > 0 && pod.failed != nil && sources.CheckName(string(node)) == nil {
		pod.failed.Node = p.names.intern(node)
		p.late(pod.failedAt)
	}
}

// twice reports whether m was logged before. Up to v1.36, at -v=5 and above, the function that adds a pod to activeQ logs
// the event, and so does its caller (scheduling_queue.go of v1.31: moveToActiveQ, and requeuePodViaQueueingHint or
// Update). The pod may be popped between the two. If two events of one kind leave a pod in its tier, the second is not a
// move either.
func (p *pod) twice(m *sources.Move) bool {
	before := p.last
	if m.Restated {
		before = p.requeued
	}
	return before != nil && before.To == m.To && before.Event == m.Event
}

// moved reads the two messages that say "moved to an internal scheduling queue", with what follows.
func (p *parser) moved(pod *pod, rest []byte) {
	suffix, rest, _ := bytes.Cut(rest, []byte(`"`))
	to := tier(value(rest, ` queue="`))
	if to == "" {
		p.lacks = true
		return
	}
	m := &sources.Move{To: to, Event: p.names.intern(value(rest, ` event="`))}
	switch {
	case bytes.Contains(suffix, []byte("gated")):
		m.To, m.GatingPlugin, m.Message = sources.TierGated, pod.gatedBy, pod.gateText
		pod.gatedBy, pod.gateText = "", ""
	case bytes.Contains(suffix, []byte("updated")):
		m.Restated = true
	}
	if m.Event == failure {
		p.retract(pod)
	}
	last := m.Event == failure && bytes.Contains(rest, []byte(` unschedulable plugins=`))
	if !last {
		p.verbosity.sawMove(p.now, pod, m.To)
	}
	if !p.entity && pod.twice(m) {
		return
	}
	if m.Event == failure {
		// With -v=5 and more a pod that goes to backoffQ or is gated has its own line before the one
		// that every failure has; with -v=3 only the latter comes.
		if pod.failed != nil {
			return
		}
		if plugins := p.plugins(rest, ` unschedulable plugins={`); plugins != nil {
			pod.plugins = plugins
		}
		m.Plugins = pod.plugins
		if last {
			p.verbosity.wentTo(pod, m)
		}
		if m.To != sources.TierGated || m.Message == "" {
			m.Message = pod.message
		}
		pod.failed = m
	}
	p.move(pod, m)
	if m.Event == failure {
		pod.failedAt = p.last
	}
}

// unplaced adds the move of a failed attempt without a line on where its pod went: the log may be cut, filtered or rate-limited,
// or the scheduler put the pod back nowhere. Upstream puts it into unschedulablePods, or after an error into backoffQ
// (v1.37: scheduling_queue.go, AddUnschedulableIfNotPresent).
func (p *parser) unplaced(f *failedEnd) {
	if f.pod.failed != nil {
		return
	}
	m := &sources.Move{Pod: f.pod.name, To: sources.TierUnschedulable, Event: failure, Plugins: f.pod.plugins, Message: f.pod.message, Unplaced: true}
	if f.fact.Error {
		m.To = sources.TierBackoff
	}
	f.pod.failed, f.pod.failedAt, f.pod.last = m, f.at, m
	p.part.Add(f.at, m)
}

// retract takes back the move of unplaced: another goroutine's lines came between the failure and the line on where the pod
// went.
func (p *parser) retract(pod *pod) {
	if m := pod.failed; m != nil && m.Unplaced {
		m.To = "" // it is no move
		p.late(pod.failedAt)
		pod.failed = nil
	}
}

func tier(queue []byte) sources.Tier {
	switch {
	case bytes.HasPrefix(queue, []byte("Active")):
		return sources.TierActive
	case bytes.HasPrefix(queue, []byte("Backoff")):
		return sources.TierBackoff
	case bytes.HasPrefix(queue, []byte("Unschedulable")):
		return sources.TierUnschedulable
	}
	return ""
}

// plugins reads a set as klog prints it, {"A":{},"B":{}}, and returns it sorted.
func (p *parser) plugins(rest []byte, key string) []string {
	raw := value(rest, key)
	if len(raw) <= len("{}") {
		return nil
	}
	if known, ok := p.names.sets[string(raw)]; ok {
		return known
	}
	var set map[string]struct{}
	if json.Unmarshal(raw, &set) != nil {
		return nil
	}
	var out []string
	for name := range set {
		out = append(out, string(sources.Sanitize(name)))
	}
	slices.Sort(out)
	out = out[:min(len(out), maxPlugins)]
	if len(p.names.sets) < maxInterned {
		if p.names.sets == nil {
			p.names.sets = map[string][]string{}
		}
		p.names.sets[string(raw)] = out
	}
	return out
}

// maxInterned bounds what interned remembers.
const maxInterned = 100_000

// interned keeps one copy of the few strings that a log repeats thousands of times.
type interned struct {
	strings map[string]string
	sets    map[string][]string
}

// intern returns b as a string that is safe to show: the copy that it keeps, if it has one.
func (n *interned) intern(b []byte) string {
	if s, ok := n.strings[string(b)]; ok {
		return s
	}
	s := strings.Clone(string(sources.Sanitize(string(b))))
	if len(n.strings) < maxInterned {
		if n.strings == nil {
			n.strings = map[string]string{}
		}
		n.strings[string(b)] = s
	}
	return s
}
