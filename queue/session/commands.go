package session

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/queue/session/filter"
	"github.com/schedq/schedq/queue/session/timeline"
	"github.com/schedq/schedq/queue/session/words"
)

// The commands of a person. Each returns at once; what it did shows in a later frame, and Sync waits
// for that one. Those that inject something fork the session first, unless it is a fork already.

// Play lets time pass. At the end of the recording it does nothing.
func (s *Session) Play() { s.do((*owner).play) }

// Pause stops time.
func (s *Session) Pause() { s.do((*owner).pause) }

// TogglePlay plays if time stands still, and pauses if it passes.
func (s *Session) TogglePlay() { s.do((*owner).togglePlay) }

// SetSpeed sets how many model seconds pass in a second, within MinSpeed and MaxSpeed.
func (s *Session) SetSpeed(x float64) { s.do(func(o *owner) { o.setSpeed(x) }) }

// ToggleSqueeze says whether quiet time is skipped while playing.
func (s *Session) ToggleSqueeze() { s.do((*owner).toggleSqueeze) }

// Step pauses and goes n moves forward, or back if n is negative.
func (s *Session) Step(n int) { s.do(func(o *owner) { o.step(n) }) }

// StepTime pauses and goes d forward, or back if it is negative.
func (s *Session) StepTime(d time.Duration) { s.do(func(o *owner) { o.stepTime(d) }) }

// Find pauses and goes to the next moment at which c is met, or the last one before. While it looks, frames say
// so; Pause and what else moves through time end it.
func (s *Session) Find(c board.Condition, forward bool) { s.do(func(o *owner) { o.find(c, forward) }) }

// FindMark is Find for any mark.
func (s *Session) FindMark(forward bool) { s.do(func(o *owner) { o.findMark("", forward) }) }

// SetMark names the moment shown. Without a name, a mark that was set there goes.
func (s *Session) SetMark(name string) { s.do(func(o *owner) { o.setMark(name) }) }

// AddMarks sets marks of the person's own on the recording, as far as they are in it.
func (s *Session) AddMarks(marks []timeline.Mark) { s.do(func(o *owner) { o.addMarks(marks) }) }

// ToggleStops says whether playing stops at marks.
func (s *Session) ToggleStops() { s.do((*owner).toggleStops) }

// Seek goes to a moment, forward or back. Whether time passes stays as it is. If the way there takes long, frames
// say how far it is; Pause and what else moves through time end it on the way.
func (s *Session) Seek(t time.Time) { s.do(func(o *owner) { o.travel(t) }) }

// SeekStart goes to the start of the recording, SeekEnd to its end; of a fork, to where it left the
// recording and to as far as it was played.
func (s *Session) SeekStart() { s.do((*owner).seekStart) }

// SeekEnd goes to the end: see SeekStart and Seek.
func (s *Session) SeekEnd() {
	s.do(func(o *owner) {
		if o.fork != nil {
			o.seekEnd()
		} else {
			o.travel(o.recording.End)
		}
	})
}

// SetFilter shows only the pods that f selects.
func (s *Session) SetFilter(f filter.Filter) { s.do(func(o *owner) { o.setFilter(f) }) }

// SetZone has what is said tell times of day in zone, from now on.
func (s *Session) SetZone(zone words.Zone) {
	s.do(func(o *owner) { o.zone, o.changed = zone, true })
}

// ToggleGroup unfolds a pod group, so that each of its pods is a row, or folds it again.
func (s *Session) ToggleGroup(group types.NamespacedName) {
	s.do(func(o *owner) { o.toggleGroup(group) })
}

// SortBy puts the pods of some tiers in another order.
func (s *Session) SortBy(by board.Sort, tiers ...queue.Tier) {
	s.do(func(o *owner) { o.sortBy(by, tiers) })
}

// Diagnose works out what the pod needs at the moment shown: see Frame.Needs.
func (s *Session) Diagnose(pod types.NamespacedName) { s.do(func(o *owner) { o.diagnose(pod, false) }) }

// DiagnoseIfQuick does the same unless the cluster is so large that time would stand still for it.
func (s *Session) DiagnoseIfQuick(pod types.NamespacedName) {
	s.do(func(o *owner) { o.diagnose(pod, true) })
}

// Survey has frames tell of the cluster at the moment shown: see Frame.Cluster.
func (s *Session) Survey() { s.do((*owner).survey) }

// Fork leaves the recording at the moment shown: from here on nothing of it is played, and the person
// decides about each pod. LeaveFork returns to the recording, to the moment where it was left.
func (s *Session) Fork() { s.do((*owner).forkHere) }

// LeaveFork returns to the recording: see Fork.
func (s *Session) LeaveFork() { s.do((*owner).leaveFork) }

// Branch leaves the what-if at the moment shown for a new one, which begins as this one; of the recording it is
// Fork. What-ifs stay until they are closed: see Frame.Forks.
func (s *Session) Branch() { s.do((*owner).branchHere) }

// GoToFork shows the what-if of that ID, or TheRecording.
func (s *Session) GoToFork(id int) { s.do(func(o *owner) { o.goToFork(id) }) }

// NameFork gives the what-if that is shown a name.
func (s *Session) NameFork(name string) { s.do(func(o *owner) { o.nameFork(name) }) }

// CloseFork forgets a what-if.
func (s *Session) CloseFork(id int) { s.do(func(o *owner) { o.closeFork(id) }) }

// Compare has frames say how the timeline shown differs from another: see Frame.Comparison. The ID of the one
// that is shown ends that.
func (s *Session) Compare(id int) { s.do(func(o *owner) { o.compare(id) }) }

// Undo takes the last injection in the what-if back, Redo does it again.
func (s *Session) Undo() { s.do((*owner).undo) }

// Redo does again what was undone last.
func (s *Session) Redo() { s.do((*owner).redo) }

// Preview pauses and works out what injections would do, of Injectables: see Frame.Previews. Without any it
// ends that.
func (s *Session) Preview(injectables ...string) { s.do(func(o *owner) { o.preview(injectables) }) }

// Inject injects one of Injectables.
func (s *Session) Inject(injectable string) { s.do(func(o *owner) { o.injectNamed(injectable) }) }

// MoveAll injects a move request for all unschedulable and gated pods, whatever rejected them.
func (s *Session) MoveAll() { s.do((*owner).moveAll) }

// InjectEvent injects a cluster event by its label, one of ClusterEvents.
func (s *Session) InjectEvent(label string) { s.do(func(o *owner) { o.injectEvent(label) }) }

// Activate injects an Activate of the pod: it goes to activeQ at once.
func (s *Session) Activate(pod types.NamespacedName) { s.do(func(o *owner) { o.activate(pod) }) }

// NewPod is a pod that a person adds.
type NewPod struct {
	Key      types.NamespacedName
	Priority int32
	// Gated gives the pod a scheduling gate.
	Gated bool
}

// AddPod injects a new pod.
func (s *Session) AddPod(p NewPod) { s.do(func(o *owner) { o.addPod(p) }) }

// DeletePod injects the deletion of the pod.
func (s *Session) DeletePod(pod types.NamespacedName) { s.do(func(o *owner) { o.deletePod(pod) }) }

// OpenGate injects an update of the pod that removes all its scheduling gates.
func (s *Session) OpenGate(pod types.NamespacedName) { s.do(func(o *owner) { o.openGate(pod) }) }

// FlushBackoff injects a flush of backoffQ: pods whose backoff is over go to activeQ.
func (s *Session) FlushBackoff() { s.do((*owner).flushBackoff) }

// FlushLeftover injects a leftover flush: pods that were unschedulable for too long are tried again.
func (s *Session) FlushLeftover() { s.do((*owner).flushLeftover) }

// Pop pops the next pod, as the scheduling loop does: it is in flight until the person decides.
func (s *Session) Pop() { s.do((*owner).pop) }

// Fits decides that the pod in flight fits: it is bound and leaves the queue.
func (s *Session) Fits(pod types.NamespacedName) { s.do(func(o *owner) { o.fits(pod) }) }

// Reject decides that plugins reject the pod in flight. Without plugins the attempt failed by an error.
func (s *Session) Reject(pod types.NamespacedName, plugins ...string) {
	s.do(func(o *owner) { o.reject(pod, plugins) })
}

// ToggleScheduler has a local kube-scheduler take the person's place in the what-if, or gives it back.
func (s *Session) ToggleScheduler() { s.do((*owner).toggleScheduler) }

// AddNodeLike injects a node like the one named: see Nodes. An empty name takes the next free one. This
// and what follows have a local scheduler take over, and let it work until nothing is under way.
func (s *Session) AddNodeLike(like, name string) {
	s.do(func(o *owner) { o.addNodeLike(like, name) })
}

// EditNode injects changes of a node, in kubectl's words: KEY=VALUE:NoSchedule, KEY=VALUE, KEY-, cordon,
// uncordon.
func (s *Session) EditNode(name string, edits []string) {
	s.do(func(o *owner) { o.editNode(name, edits) })
}

// DeleteObject injects the deletion of a pod, in the queue or running, or of a node (kind "node", without
// a namespace).
func (s *Session) DeleteObject(kind string, key types.NamespacedName) {
	s.do(func(o *owner) { o.deleteObject(kind, key) })
}

// BindClaim injects the binding of a claim to a free volume, or to a new one.
func (s *Session) BindClaim(claim types.NamespacedName) {
	s.do(func(o *owner) { o.bindClaim(claim) })
}

// Apply injects objects, read from the manifest of that name.
func (s *Session) Apply(name string, objects []runtime.Object) {
	s.do(func(o *owner) { o.apply(name, objects) })
}
