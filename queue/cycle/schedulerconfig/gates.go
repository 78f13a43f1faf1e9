package schedulerconfig

import (
	"fmt"
	"strconv"
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/features"
)

// unmodelled are the feature gates that change what waits in the queue or how the queue is asked: groups of
// groups wait, or pods again after they are bound; hints are asked before hints; API calls wait too. All
// are off by default.
var unmodelled = []featuregate.Feature{
	features.CompositePodGroup,
	features.SchedulerPreQueueingHints,
	features.SchedulerAsyncAPICalls,
	features.InPlacePodVerticalScalingSchedulerPreemption,
}

// SetFeatureGates sets feature gates as kube-scheduler's flag --feature-gates does, from a list such as
// "SchedulerPopFromBackoffQ=false,DRAExtendedResource=false". Gates that are not in it keep their values.
// They are upstream's, of the whole process, and upstream reads some only once: call this before anything
// else of this package. An error is one sentence, and then nothing is set.
func SetFeatureGates(list string) error {
	gates, err := parseGates(list)
	if err != nil {
		return err
	}
	for _, gate := range unmodelled { // upstream might ask for more gates to go with it
		if gates[string(gate)] {
			return unmodelledError(gate)
		}
	}
	// Upstream remembers even what it refuses, so it is tried on a copy.
	trial := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	if err := trial.SetFromMap(gates); err != nil {
		return oneSentence(err)
	}
	for _, gate := range unmodelled { // AllBeta=true turns some on
		if trial.Enabled(gate) {
			return unmodelledError(gate)
		}
	}
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(gates)
}

func unmodelledError(gate featuregate.Feature) error {
	return fmt.Errorf("feature gate %s must be false: schedq does not model the scheduling queue with it", gate)
}

// parseGates models featureGate.Set of k8s.io/component-base/featuregate, with better sentences.
func parseGates(list string) (map[string]bool, error) {
	gates := map[string]bool{}
	known := utilfeature.DefaultMutableFeatureGate.GetAll()
	for item := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		name, value, found := strings.Cut(item, "=")
		name, value = strings.TrimPrefix(strings.TrimSpace(name), "kube:"), strings.TrimSpace(value)
		if _, ok := known[featuregate.Feature(name)]; !ok {
			return nil, fmt.Errorf("kube-scheduler v1.37 does not have feature gate %q%s", name, didYouMean(name, known))
		}
		if !found {
			return nil, fmt.Errorf("feature gate %s needs a value, %s=true or %s=false", name, name, name)
		}
		on, err := strconv.ParseBool(value)
		if err != nil {
			return nil, fmt.Errorf("feature gate %s is %q, want true or false", name, value)
		}
		gates[name] = on
	}
	return gates, nil
}
