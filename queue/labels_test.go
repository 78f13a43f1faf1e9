package queue

import "testing"

// TestOf: the labels that logs of these releases show (v1.31.4, v1.33.0, v1.35.0).
func TestOf(t *testing.T) {
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
		if got := [2]string{OfUnschedulablePods.Of(label), ByHand.Of(label)}; got != want || ByKind.Of(label) != label {
			t.Errorf("%s is called %q, want %q", label, got, want)
		}
	}
}

func TestIsPodAdd(t *testing.T) {
	for label, want := range map[string]bool{"UnscheduledPodAdd": true, "UnschedulablePodAdd": true, "PodAdd": true, "NodeAdd": false, "AssignedPodAdd": false} {
		if IsPodAdd(label) != want {
			t.Errorf("%s: %v", label, !want)
		}
	}
}
