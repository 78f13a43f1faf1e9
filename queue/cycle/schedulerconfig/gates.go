package schedulerconfig

import (
	"fmt"
	"strconv"
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/features"
)

// unmodelled are the feature gates that change the queue in ways that schedq does not model, such as composite pod
// groups or additional hints. All are off by default.
var unmodelled = []featuregate.Feature{
	features.CompositePodGroup,
	features.SchedulerPreQueueingHints,
	features.SchedulerAsyncAPICalls,
	features.InPlacePodVerticalScalingSchedulerPreemption,
}

// SetFeatureGates sets feature gates as kube-scheduler's flag --feature-gates does, from a list such as
// "SchedulerPopFromBackoffQ=false,DRAExtendedResource=false". It sets upstream's global gates, some of which upstream
// reads only once, so call it before any other function of this package. On an error, which is one sentence, it sets
// nothing.
func SetFeatureGates(list string) error {
	gates, err := parseGates(list)
	if err != nil {
		return err
	}
	for _, gate := range unmodelled { // before upstream reports missing dependencies
		if gates[string(gate)] {
			return unmodelledError(gate)
		}
	}
	// Upstream keeps even rejected gates, so try on a copy.
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

// parseGates models featureGate.Set in k8s.io/component-base/featuregate, with clearer errors.
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
