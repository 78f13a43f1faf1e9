package queue

import "testing"

// TestLabels checks labels against those in logs of v1.31.4, v1.33.0 and v1.35.0.
func TestLabels(t *testing.T) {
	for label, want := range map[string][2]string{
		"UnscheduledPodAdd":                           {"UnschedulablePodAdd", "PodAdd"},
		"UnscheduledPodUpdate":                        {"UnschedulablePodUpdate", "PodUpdate"},
		"AssignedPodDelete":                           {"AssignedPodDelete", "AssignedPodDelete"},
		"NodeAdd":                                     {"NodeAdd", "NodeAdd"},
		"NodeUpdateNodeTaint":                         {"NodeUpdateNodeTaint", "NodeTaintChange"},
		"PersistentVolumeClaimAdd":                    {"PersistentVolumeClaimAdd", "PvcAdd"},
		"BackoffComplete":                             {"BackoffComplete", "BackoffComplete"},
		"TargetPodUpdatePodSchedulingGatesEliminated": {"UnschedulablePodUpdatePodSchedulingGatesEliminated", "PodUpdate"},
	} {
		if got := [2]string{LabelsUnschedulablePod.Of(label), LabelsLegacy.Of(label)}; got != want || LabelsByResource.Of(label) != label {
			t.Errorf("labels of %s are %q, want %q", label, got, want)
		}
	}
	for _, same := range [][2]string{{"NodeUpdateNodeTaint", "NodeTaintChange"}, {"UnschedulablePodAdd", "PodAdd"}, {"NodeUpdateNodeTaint", "NodeSpecUnschedulableChange"}} {
		if a, b := LabelsLegacy.Of(same[0]), LabelsLegacy.Of(same[1]); a != b {
			t.Errorf("%s and %s are one event, but their older labels are %s and %s", same[0], same[1], a, b)
		}
	}
	for label, want := range map[string]bool{"UnscheduledPodAdd": true, "UnschedulablePodAdd": true, "PodAdd": true, "NodeAdd": false, "AssignedPodAdd": false} {
		if IsPodAdd(label) != want {
			t.Errorf("IsPodAdd(%s) = %t", label, !want)
		}
	}
}
