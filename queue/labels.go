package queue

import "strings"

// LabelStyle is how a release spells the labels of events in its logs and metrics. Everywhere else, schedq
// uses the labels of v1.37.
type LabelStyle uint8

const (
	// LabelsByResource is the style of v1.37: AssignedPodDelete, UnscheduledPodAdd, TargetPodUpdatePodLabel.
	LabelsByResource LabelStyle = iota
	// LabelsUnschedulablePod is the style of v1.32 to v1.36. One resource stands for all pods without a node:
	// UnschedulablePodAdd.
	LabelsUnschedulablePod
	// LabelsLegacy is the style until v1.31, with a constant for each label: PodAdd, NodeTaintChange, PvcAdd
	// (pkg/scheduler/framework/events.go in v1.31, internal/queue/events.go before).
	LabelsLegacy
)

// legacyLabels maps labels of LabelsUnschedulablePod to those of LabelsLegacy.
var legacyLabels = [...][2]string{
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
	{"NodeSpecUnschedulableChange", "NodeTaintChange"}, // legacy itself: a node is uncordoned, which became a taint event
}

// Of returns the release's spelling of a v1.37 label. Labels of an older style stay as they are, so that
// labels of two styles mean the same event if Of of the older style makes them equal.
func (s LabelStyle) Of(label string) string {
	if s == LabelsByResource {
		return label
	}
	for _, resource := range [...]string{"UnscheduledPod", "TargetPod"} {
		if action, ok := strings.CutPrefix(label, resource); ok {
			label = "UnschedulablePod" + action
		}
	}
	if s == LabelsUnschedulablePod {
		return label
	}
	if strings.HasPrefix(label, "UnschedulablePodUpdate") {
		return "PodUpdate"
	}
	for _, l := range legacyLabels {
		if label == l[0] {
			return l[1]
		}
	}
	return label
}

// IsPodAdd reports whether label is the event of a new pod in the spelling of any release.
func IsPodAdd(label string) bool {
	const podAdd = "UnscheduledPodAdd"
	if !strings.HasSuffix(label, "PodAdd") { // a cheap test that excludes most labels
		return false
	}
	return label == podAdd || label == LabelsUnschedulablePod.Of(podAdd) || label == LabelsLegacy.Of(podAdd)
}
