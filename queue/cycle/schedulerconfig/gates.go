package schedulerconfig

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/features"

	"github.com/schedq/schedq/sources"
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
// reads only once, so call it before any other function of this package. It returns sentences about gates that it ignores because
// v1.37 does not have them: a newer release may. On an error, which is one sentence, it sets nothing.
func SetFeatureGates(list string) (ignored []string, err error) {
	gates, ignored, err := parseGates(list)
	if err != nil {
		return nil, err
	}
	for _, gate := range unmodelled { // before upstream reports missing dependencies
		if gates[string(gate)] {
			return nil, unmodelledError(gate)
		}
	}
	// Upstream keeps even rejected gates, so try on a copy.
	trial := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	if err := trial.SetFromMap(gates); err != nil {
		return nil, oneSentence(err)
	}
	for _, gate := range unmodelled { // AllBeta=true turns some on
		if trial.Enabled(gate) {
			return nil, unmodelledError(gate)
		}
	}
	return ignored, utilfeature.DefaultMutableFeatureGate.SetFromMap(gates)
}

func unmodelledError(gate featuregate.Feature) error {
	return fmt.Errorf("feature gate %s must be false: schedq does not model the scheduling queue with it", gate)
}

// maxIgnored limits how many unknown gates or fields are named.
const maxIgnored = 20

// parseGates models featureGate.Set in k8s.io/component-base/featuregate, with clearer errors.
func parseGates(list string) (gates map[string]bool, ignored []string, err error) {
	gates = map[string]bool{}
	known := utilfeature.DefaultMutableFeatureGate.GetAll()
	for item := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		name, value, found := strings.Cut(item, "=")
		name, value = strings.TrimPrefix(strings.TrimSpace(name), "kube:"), strings.TrimSpace(value)
		if name == "" {
			return nil, nil, fmt.Errorf("invalid feature gate %q: use NAME=true or NAME=false", item)
		}
		if _, ok := known[featuregate.Feature(name)]; !ok {
			said := fmt.Sprintf("Feature gate %s is ignored: kube-scheduler v1.37 does not have it%s", sources.Sanitize(name), cmp.Or(didYouMean(name, known), "."))
			if len(ignored) < maxIgnored && !slices.Contains(ignored, said) {
				ignored = append(ignored, said)
			}
			continue
		}
		if !found {
			return nil, nil, fmt.Errorf("feature gate %s needs a value, %s=true or %s=false", name, name, name)
		}
		on, err := strconv.ParseBool(value)
		if err != nil {
			return nil, nil, fmt.Errorf("feature gate %s is %q, want true or false", name, value)
		}
		gates[name] = on
	}
	return gates, ignored, nil
}
