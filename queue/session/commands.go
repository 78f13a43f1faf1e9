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

// The user's commands. Each returns at once; its effect appears in a later frame, which Sync waits
// for. Commands that inject something start a what-if first, unless one is shown.

// Play starts playing. It does nothing at the end of the recording.
func (s *Session) Play() { s.do((*owner).play) }

// Pause stops playing.
func (s *Session) Pause() { s.do((*owner).pause) }

// TogglePlay plays if paused, and pauses if playing.
func (s *Session) TogglePlay() { s.do((*owner).togglePlay) }

// SetSpeed sets the speed in model seconds per second, limited to MinSpeed and MaxSpeed.
func (s *Session) SetSpeed(x float64) { s.do(func(o *owner) { o.setSpeed(x) }) }

// ToggleSqueeze toggles skipping quiet time while playing.
func (s *Session) ToggleSqueeze() { s.do((*owner).toggleSqueeze) }

// Step pauses and moves n moves forward, or back if n is negative.
func (s *Session) Step(n int) { s.do(func(o *owner) { o.step(n) }) }

// StepTime pauses and moves d forward, or back if d is negative.
func (s *Session) StepTime(d time.Duration) { s.do(func(o *owner) { o.stepTime(d) }) }

// Find pauses and goes to the next time at which c is met, or to the previous one. Frames report the
// progress; Pause and any other time command end the search.
func (s *Session) Find(c board.Condition, forward bool) { s.do(func(o *owner) { o.find(c, forward) }) }

// FindMark is Find for any mark.
func (s *Session) FindMark(forward bool) { s.do(func(o *owner) { o.findMark("", forward) }) }

// SetMark names the time shown. An empty name removes the mark there.
func (s *Session) SetMark(name string) { s.do(func(o *owner) { o.setMark(name) }) }

// AddMarks adds the user's marks to the recording, except those outside it.
func (s *Session) AddMarks(marks []timeline.Mark) { s.do(func(o *owner) { o.addMarks(marks) }) }

// ToggleStops toggles stopping at marks while playing.
func (s *Session) ToggleStops() { s.do((*owner).toggleStops) }

// Seek goes to t without changing whether it plays. Frames report the progress if that takes long;
// Pause and any other time command end it on the way.
func (s *Session) Seek(t time.Time) { s.do(func(o *owner) { o.travel(t) }) }

// SeekStart goes to the start of the recording, or to where the what-if shown left it.
func (s *Session) SeekStart() { s.do((*owner).seekStart) }

// SeekEnd goes to the end of the what-if shown; in the recording to the scheduler's end if its log says
// that it shut down, and from there to the recording's.
func (s *Session) SeekEnd() { s.do((*owner).seekEnd) }

// SetFilter shows only the pods that f selects.
func (s *Session) SetFilter(f filter.Filter) { s.do(func(o *owner) { o.setFilter(f) }) }

// SetZone sets the time zone of replies.
func (s *Session) SetZone(zone words.Zone) {
	s.do(func(o *owner) { o.zone, o.changed = zone, true })
}

// ToggleGroup unfolds a pod group, so that each of its pods has a row, or folds it again.
func (s *Session) ToggleGroup(group types.NamespacedName) {
	s.do(func(o *owner) { o.toggleGroup(group) })
}

// SortBy sorts the pods of tiers.
func (s *Session) SortBy(by board.Sort, tiers ...queue.Tier) {
	s.do(func(o *owner) { o.sortBy(by, tiers) })
}

// Diagnose computes what the pod needs at the time shown: see Frame.Needs.
func (s *Session) Diagnose(pod types.NamespacedName) { s.do(func(o *owner) { o.diagnose(pod, false) }) }

// DiagnoseIfQuick is Diagnose, except that it does nothing for a cluster so large that it would stall.
func (s *Session) DiagnoseIfQuick(pod types.NamespacedName) {
	s.do(func(o *owner) { o.diagnose(pod, true) })
}

// Survey adds the cluster at the time shown to frames: see Frame.Cluster.
func (s *Session) Survey() { s.do((*owner).survey) }

// FindSiblings adds the siblings of a pod at the time shown to frames: see Frame.Siblings.
func (s *Session) FindSiblings(pod types.NamespacedName) {
	s.do(func(o *owner) { o.findSiblings(pod) })
}

// Fork starts a what-if at the time shown: playback of the recording stops, and the user makes the
// scheduling decisions.
func (s *Session) Fork() { s.do((*owner).forkHere) }

// LeaveFork returns to the recording, to the time at which Fork left it.
func (s *Session) LeaveFork() { s.do((*owner).leaveFork) }

// Branch starts a what-if that begins as the one shown; from the recording it is Fork. What-ifs exist
// until they are closed: see Frame.Forks.
func (s *Session) Branch() { s.do((*owner).branchHere) }

// GoToFork shows the what-if with that ID, or TheRecording.
func (s *Session) GoToFork(id int) { s.do(func(o *owner) { o.goToFork(id) }) }

// NameFork names the what-if shown.
func (s *Session) NameFork(name string) { s.do(func(o *owner) { o.nameFork(name) }) }

// CloseFork discards a what-if.
func (s *Session) CloseFork(id int) { s.do(func(o *owner) { o.closeFork(id) }) }

// Compare adds a comparison of the timeline shown with another one to frames: see Frame.Comparison.
// The ID of the timeline shown ends the comparison.
func (s *Session) Compare(id int) { s.do(func(o *owner) { o.compare(id) }) }

// Undo undoes the last injection in the what-if.
func (s *Session) Undo() { s.do((*owner).undo) }

// Redo repeats the injection that was undone last.
func (s *Session) Redo() { s.do((*owner).redo) }

// Preview pauses and computes what each of injectables would do: see Frame.Previews. Without
// injectables it ends the preview.
func (s *Session) Preview(injectables ...string) { s.do(func(o *owner) { o.preview(injectables) }) }

// Inject injects one of Injectables.
func (s *Session) Inject(injectable string) { s.do(func(o *owner) { o.injectNamed(injectable) }) }

// MoveAll injects a move request for all unschedulable and gated pods, whichever plugin rejected them.
func (s *Session) MoveAll() { s.do((*owner).moveAll) }

// InjectEvent injects a cluster event by its label, one of ClusterEvents.
func (s *Session) InjectEvent(label string) { s.do(func(o *owner) { o.injectEvent(label) }) }

// Activate injects an Activate of the pod, which moves it to activeQ.
func (s *Session) Activate(pod types.NamespacedName) { s.do(func(o *owner) { o.activate(pod) }) }

// NewPod is a pod to add.
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

// FlushBackoff injects a flush of backoffQ: pods whose backoff is over move to activeQ.
func (s *Session) FlushBackoff() { s.do((*owner).flushBackoff) }

// FlushLeftover injects a leftover flush: pods that were unschedulable for too long are retried.
func (s *Session) FlushLeftover() { s.do((*owner).flushLeftover) }

// Pop pops the next pod, as the scheduling loop does. It stays in flight until the user decides.
func (s *Session) Pop() { s.do((*owner).pop) }

// Fits binds the pod in flight, which leaves the queue.
func (s *Session) Fits(pod types.NamespacedName) { s.do(func(o *owner) { o.fits(pod) }) }

// Reject rejects the pod in flight. Without plugins the attempt fails with an error.
func (s *Session) Reject(pod types.NamespacedName, plugins ...string) {
	s.do(func(o *owner) { o.reject(pod, plugins) })
}

// ToggleScheduler starts or stops a local kube-scheduler that makes the decisions in the what-if.
func (s *Session) ToggleScheduler() { s.do((*owner).toggleScheduler) }

// AddNodeLike injects a copy of the node like: see Nodes. An empty name picks the next free one. This
// and the following commands start a local scheduler, and let it run until nothing is in progress.
func (s *Session) AddNodeLike(like, name string) {
	s.do(func(o *owner) { o.addNodeLike(like, name) })
}

// EditNode injects node changes in kubectl's notation: KEY=VALUE:NoSchedule, KEY=VALUE, KEY-, cordon,
// uncordon.
func (s *Session) EditNode(name string, edits []string) {
	s.do(func(o *owner) { o.editNode(name, edits) })
}

// DeleteObject injects the deletion of a pod, queued or running, or of a node (kind "node", no
// namespace).
func (s *Session) DeleteObject(kind string, key types.NamespacedName) {
	s.do(func(o *owner) { o.deleteObject(kind, key) })
}

// BindClaim injects the binding of a claim to a free volume, or to a new one.
func (s *Session) BindClaim(claim types.NamespacedName) {
	s.do(func(o *owner) { o.bindClaim(claim) })
}

// Apply injects objects that were read from the manifest of that name.
func (s *Session) Apply(name string, objects []runtime.Object) {
	s.do(func(o *owner) { o.apply(name, objects) })
}
