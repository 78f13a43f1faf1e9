package queue

// Package labels knows how releases of kube-scheduler call the events of moves, in their logs and metrics.
//
// A label of v1.37 is the one that schedq thinks in; another release's is what it reads and tells. The package imports
// nothing of the project.

import "strings"

// Style is how a release calls events.
type LabelStyle uint8

const (
	// ByKind is v1.37's: AssignedPodDelete, UnscheduledPodAdd, TargetPodUpdatePodLabel.
	ByKind LabelStyle = iota
	// OfUnschedulablePods names all pods without a node by one kind: UnschedulablePodAdd, since v1.32.
	OfUnschedulablePods
	// ByHand is that of the releases before, which wrote each out: PodAdd, NodeTaintChange, PvcAdd
	// (pkg/scheduler/framework/events.go of v1.31, internal/queue/events.go before).
	ByHand
)

// byHand are labels of v1.31 and before that are others, after those of OfUnschedulablePods. The uncordoning of a node,
// which these called NodeSpecUnschedulableChange, is one of its taints since.
var byHand = [...][2]string{
	{"UnschedulablePodAdd", "PodAdd"},
	{"AssignedPodUpdatePodLabel", "PodLabelChange"},
	{"AssignedPodUpdatePodScaleDown", "PodRequestScaledDown"},
	{"NodeUpdateNodeAllocatable", "NodeAllocatableChange"},
	{"NodeUpdateNodeLabel", "NodeLabelChange"},
	{"NodeUpdateNodeTaint", "NodeTaintChange"},
	{"NodeUpdateNodeCondition", "NodeConditionChange"},
	{"NodeUpdateNodeAnnotation", "NodeAnnotationChange"},
	{"PersistentVolumeAdd", "PvAdd"},
	{"PersistentVolumeUpdate", "PvUpdate"},
	{"PersistentVolumeClaimAdd", "PvcAdd"},
	{"PersistentVolumeClaimUpdate", "PvcUpdate"},
}

// Of returns how the release calls the event that v1.37 calls label.
func (s LabelStyle) Of(label string) string {
	if s == ByKind {
		return label
	}
	for _, kind := range [...]string{"UnscheduledPod", "TargetPod"} {
		if what, ok := strings.CutPrefix(label, kind); ok {
			label = "UnschedulablePod" + what
		}
	}
	if s == OfUnschedulablePods {
		return label
	}
	if strings.HasPrefix(label, "UnschedulablePodUpdate") {
		return "PodUpdate"
	}
	for _, l := range byHand {
		if label == l[0] {
			return l[1]
		}
	}
	return label
}

// IsPodAdd reports whether label is what any release calls the event of a pod that is new to the queue.
func IsPodAdd(label string) bool {
	const podAdd = "UnscheduledPodAdd"
	if !strings.HasSuffix(label, "PodAdd") { // as all of them do: most labels cost nothing
		return false
	}
	return label == podAdd || label == OfUnschedulablePods.Of(podAdd) || label == ByHand.Of(podAdd)
}
