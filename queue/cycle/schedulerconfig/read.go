package schedulerconfig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/features"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	frameworkplugins "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// Profile is one of a scheduler's profiles, and Extender an extender.
type (
	Profile  = schedulerapi.KubeSchedulerProfile
	Extender = schedulerapi.Extender
)

// Default returns the configuration of a kube-scheduler without a file, with the feature gates as
// they are set.
func Default() (*Config, error) {
	cfg, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("can't set kube-scheduler's defaults: %w", err)
	}
	return newConfig(cfg), nil
}

// Read reads a KubeSchedulerConfiguration, YAML or JSON, with the feature gates as they are set. It
// is as strict as kube-scheduler --config (cmd/kube-scheduler/app/options/configfile.go), and also refuses
// plugins that are not in-tree. An error is one sentence that names the file and the field; it is the context's if
// that ends while the file is waited for.
func Read(ctx context.Context, path string) (*Config, error) {
	data, err := readFile(ctx, path)
	if err != nil {
		return nil, err
	}
	cfg, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", sources.Sanitize(path), sources.Sanitize(err.Error()))
	}
	return newConfig(cfg), nil
}

// newConfig takes over what counts here of a complete configuration.
func newConfig(cfg *schedulerapi.KubeSchedulerConfiguration) *Config {
	options := queue.Defaults()
	options.PodInitialBackoff = time.Duration(cfg.PodInitialBackoffSeconds) * time.Second
	options.PodMaxBackoff = time.Duration(cfg.PodMaxBackoffSeconds) * time.Second
	options.PopFromBackoffQ = utilfeature.DefaultFeatureGate.Enabled(features.SchedulerPopFromBackoffQ)
	options.GenericWorkload = utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload)
	return &Config{
		Queue:                    options,
		Profiles:                 cfg.Profiles,
		Extenders:                cfg.Extenders,
		PercentageOfNodesToScore: cfg.PercentageOfNodesToScore,
		ClientQPS:                cfg.ClientConnection.QPS,
		ClientBurst:              cfg.ClientConnection.Burst,
	}
}

// maxConfig is the size in bytes of the largest file that Read takes. A ConfigMap, where most of
// them come from, holds as much.
const maxConfig = 1 << 20

func readFile(ctx context.Context, path string) ([]byte, error) {
	data, err := disk.Read(ctx, path, maxConfig)
	if err == nil && len(bytes.TrimSpace(data)) == 0 {
		err = fmt.Errorf("%s is empty", sources.Sanitize(path))
	}
	return data, err
}

// decode decodes, completes and checks a configuration. Its errors do not name the file.
func decode(data []byte) (*schedulerapi.KubeSchedulerConfiguration, error) {
	if err := checkKind(data); err != nil {
		return nil, err
	}
	obj, gvk, err := scheme.Codecs.UniversalDecoder().Decode(data, nil, nil)
	if err != nil {
		return nil, plain(err)
	}
	cfg, ok := obj.(*schedulerapi.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("no KubeSchedulerConfiguration but a %s", gvk)
	}
	cfg.APIVersion = gvk.GroupVersion().String() // by which upstream validates
	if errs := validation.ValidateKubeSchedulerConfiguration(cfg); errs != nil {
		return nil, oneSentence(errs)
	}
	if limit := int64(math.MaxInt64 / time.Second); cfg.PodMaxBackoffSeconds > limit {
		return nil, fmt.Errorf("podMaxBackoffSeconds: Invalid value: %d: must be at most %d", cfg.PodMaxBackoffSeconds, limit)
	}
	for i, profile := range cfg.Profiles {
		if err := checkPlugins(&profile); err != nil {
			return nil, err
		}
		for j, config := range profile.PluginConfig {
			// Upstream's validation has this plugin under a wrong name, so only the plugin itself would tell.
			args, ok := config.Args.(*schedulerapi.NodeResourcesFitArgs)
			if !ok {
				continue
			}
			path := field.NewPath("profiles").Index(i).Child("pluginConfig").Index(j).Child("args")
			if err := validation.ValidateNodeResourcesFitArgs(path, args); err != nil {
				return nil, oneSentence(err)
			}
		}
	}
	return cfg, nil
}

// checkKind finds a file that is something else. Upstream's decoder would quote the whole file.
func checkKind(data []byte) error {
	asJSON, err := yaml.ToJSON(data)
	if err != nil {
		return plain(err)
	}
	if !json.Valid(asJSON) {
		return nil // the decoder tells more
	}
	var fields map[string]any
	_ = json.Unmarshal(asJSON, &fields) // what is no object has no kind either
	apiVersion, _ := fields["apiVersion"].(string)
	kind, _ := fields["kind"].(string)
	want := configv1.SchemeGroupVersion.String()
	if apiVersion != want || kind != "KubeSchedulerConfiguration" {
		return fmt.Errorf("apiVersion is %q and kind is %q, want %q and %q", apiVersion, kind, want, "KubeSchedulerConfiguration")
	}
	return checkLengths(fields)
}

// maxElements is how many elements a list of a configuration has at most: profiles, extenders, the plugins of an
// extension point, what is configured of a profile. kube-scheduler has 25 plugins. Each profile is a scheduler
// of its own: a thousand take 1.9 s of processor time and 120 MB, a hundred 0.2 s and 10 MB.
const maxElements = 100

// checkLengths finds a list of profiles, extenders or plugins that is too long, before upstream's code makes
// something of each element.
func checkLengths(fields map[string]any) error {
	check := func(path string, list any) error {
		if all, ok := list.([]any); ok && len(all) > maxElements {
			return fmt.Errorf("%s has %d elements, and schedq takes %d at most", path, len(all), maxElements)
		}
		return nil
	}
	if err := errors.Join(check("profiles", member(fields, "profiles")), check("extenders", member(fields, "extenders"))); err != nil {
		return err
	}
	profiles, _ := member(fields, "profiles").([]any)
	for i, profile := range profiles {
		path := fmt.Sprintf("profiles[%d]", i)
		if err := check(path+".pluginConfig", member(profile, "pluginConfig")); err != nil {
			return err
		}
		points, _ := member(profile, "plugins").(map[string]any)
		for _, point := range slices.Sorted(maps.Keys(points)) {
			for _, set := range []string{"enabled", "disabled"} {
				if err := check(path+".plugins."+string(sources.Sanitize(point))+"."+set, member(points[point], set)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// member returns a member of an object, or nil.
func member(object any, name string) any {
	fields, _ := object.(map[string]any)
	return fields[name]
}

// plain makes one sentence of a decoder's error.
func plain(err error) error {
	text := err.Error()
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		text = strings.Replace(text, mismatch.Error(), describe(mismatch), 1)
	}
	text = strings.NewReplacer(
		"strict decoding error: ", "",
		"decoding .profiles", "profiles",
		"decoding args for plugin ", "args of ",
		"couldn't get version/kind; json parse error: ", "",
		"yaml: unmarshal errors:", "",
	).Replace(strings.TrimPrefix(text, "yaml: "))
	return errors.New(strings.Join(strings.Fields(text), " "))
}

// describe says which field has a wrong type, without the names of Go's types.
func describe(e *json.UnmarshalTypeError) string {
	want := "a number"
	switch e.Type.Kind() {
	case reflect.Bool:
		want = "true or false"
	case reflect.String:
		want = "a string"
	case reflect.Slice, reflect.Array:
		want = "a list"
	case reflect.Struct, reflect.Map:
		want = "an object"
	}
	return fmt.Sprintf("%s is of type %s, want %s", e.Field, e.Value, want)
}

// oneSentence joins errors that upstream collected, which it may do in any order.
func oneSentence(err error) error {
	var all utilerrors.Aggregate
	if !errors.As(err, &all) {
		return err
	}
	var texts []string
	for _, e := range utilerrors.Flatten(all).Errors() {
		texts = append(texts, e.Error())
	}
	slices.Sort(texts)
	return errors.New(strings.Join(texts, "; "))
}

// checkPlugins finds a plugin that kube-scheduler does not have. Upstream finds those that are enabled
// when it sets the profile up, and takes any other for a plugin that is just not enabled.
func checkPlugins(profile *schedulerapi.KubeSchedulerProfile) error {
	registry := frameworkplugins.NewInTreeRegistry()
	check := func(does, plugin string) error {
		if _, ok := registry[plugin]; ok {
			return nil
		}
		return fmt.Errorf("profile %q %s plugin %q, which kube-scheduler v1.37 does not have%s",
			profile.SchedulerName, does, plugin, didYouMean(plugin, registry))
	}
	for _, plugin := range profile.Plugins.QueueSort.Enabled {
		if plugin.Name != queuesort.Name {
			return fmt.Errorf("profile %q sorts its queue by plugin %q: the queue here is sorted by %s alone", profile.SchedulerName, plugin.Name, queuesort.Name)
		}
	}
	points := reflect.ValueOf(*profile.Plugins) // a PluginSet for every extension point
	for i := range points.NumField() {
		set := points.Field(i).Interface().(schedulerapi.PluginSet)
		for _, plugin := range set.Enabled {
			if err := check("enables", plugin.Name); err != nil {
				return err
			}
		}
		for _, plugin := range set.Disabled {
			if plugin.Name == "*" {
				continue
			}
			if err := check("disables", plugin.Name); err != nil {
				return err
			}
		}
	}
	for _, config := range profile.PluginConfig {
		if err := check("configures", config.Name); err != nil {
			return err
		}
	}
	return nil
}

// didYouMean ends a sentence about an unknown name with a known one that differs in at most two letters.
func didYouMean[K ~string, V any](name string, known map[K]V) string {
	best, least := K(""), 3
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if d := distance(name, string(k)); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance is Levenshtein's: how many bytes are to be put in, taken out or changed to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // of the first i bytes of a to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
