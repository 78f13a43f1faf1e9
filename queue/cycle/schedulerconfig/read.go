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

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
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

// Profile and Extender are upstream's types.
type (
	Profile  = schedulerapi.KubeSchedulerProfile
	Extender = schedulerapi.Extender
)

// Default returns the configuration of a kube-scheduler without a file, with the current feature gates.
func Default() (*Config, error) {
	cfg, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("setting kube-scheduler's defaults: %w", err)
	}
	return newConfig(cfg), nil
}

// Read reads a KubeSchedulerConfiguration in YAML or JSON, with the current feature gates. It is as strict as
// kube-scheduler --config (cmd/kube-scheduler/app/options/configfile.go), but ignores unknown fields, which a newer release may
// have, and also rejects out-of-tree plugins. An error is one sentence that names the file and the field, or the context's error if that ends first.
func Read(ctx context.Context, path string) (*Config, error) {
	data, err := readFile(ctx, path)
	if err != nil {
		return nil, err
	}
	cfg, unknown, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", sources.Sanitize(path), sources.Sanitize(err.Error()))
	}
	made := newConfig(cfg)
	for _, u := range unknown[:min(len(unknown), maxIgnored)] {
		made.Ignored = append(made.Ignored, fmt.Sprintf("%s: %s is ignored: kube-scheduler v1.37 does not have it.", sources.Sanitize(path), sources.Sanitize(u)))
	}
	return made, nil
}

// newConfig converts a complete configuration.
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

// maxConfig limits the size in bytes of a configuration file. It is the limit of a ConfigMap, where most of these files
// are stored.
const maxConfig = 1 << 20

func readFile(ctx context.Context, path string) ([]byte, error) {
	data, err := disk.Read(ctx, path, maxConfig)
	if err == nil && len(bytes.TrimSpace(data)) == 0 {
		err = fmt.Errorf("%s is empty", sources.Sanitize(path))
	}
	return data, err
}

// lenient decodes what scheme.Codecs does, and leaves unknown fields out.
var lenient = serializer.NewCodecFactory(scheme.Scheme)

// decode decodes, completes and validates a configuration, and returns which of its fields are unknown. Its errors do not name the
// file.
func decode(data []byte) (cfg *schedulerapi.KubeSchedulerConfiguration, unknown []string, err error) {
	if err := checkKind(data); err != nil {
		return nil, nil, err
	}
	obj, gvk, err := scheme.Codecs.UniversalDecoder().Decode(data, nil, nil)
	if unknown = unknownFields(err); len(unknown) > 0 {
		obj, gvk, err = lenient.UniversalDecoder().Decode(data, nil, nil)
	}
	if err != nil {
		return nil, nil, simplify(err)
	}
	var ok bool
	cfg, ok = obj.(*schedulerapi.KubeSchedulerConfiguration)
	if !ok {
		return nil, nil, fmt.Errorf("unexpected kind %s, want KubeSchedulerConfiguration", gvk)
	}
	cfg.APIVersion = gvk.GroupVersion().String() // upstream's validation depends on it
	if errs := validation.ValidateKubeSchedulerConfiguration(cfg); errs != nil {
		return nil, nil, oneSentence(errs)
	}
	if limit := int64(math.MaxInt64 / time.Second); cfg.PodMaxBackoffSeconds > limit {
		return nil, nil, fmt.Errorf("podMaxBackoffSeconds: Invalid value: %d: must be at most %d", cfg.PodMaxBackoffSeconds, limit)
	}
	for i, profile := range cfg.Profiles {
		if err := checkPlugins(&profile); err != nil {
			return nil, nil, err
		}
		for j, config := range profile.PluginConfig {
			// Upstream's validation has a wrong name for this plugin and skips it.
			args, ok := config.Args.(*schedulerapi.NodeResourcesFitArgs)
			if !ok {
				continue
			}
			path := field.NewPath("profiles").Index(i).Child("pluginConfig").Index(j).Child("args")
			if err := validation.ValidateNodeResourcesFitArgs(path, args); err != nil {
				return nil, nil, oneSentence(err)
			}
		}
	}
	return cfg, unknown, nil
}

// unknownFields returns the fields that err calls unknown, as in unknown field "a.b". None if it is about anything else, too.
func unknownFields(err error) (fields []string) {
	strict, ok := runtime.AsStrictDecodingError(err)
	if !ok {
		return nil
	}
	for _, e := range strict.Errors() {
		text := simplify(e).Error()
		if !strings.Contains(text, `unknown field "`) {
			return nil
		}
		fields = append(fields, text)
	}
	return fields
}

// checkKind returns an error for a file of another kind. Upstream's decoder would quote the whole file.
func checkKind(data []byte) error {
	asJSON, err := yaml.ToJSON(data)
	if err != nil {
		return simplify(err)
	}
	if !json.Valid(asJSON) {
		return nil // the decoder's error is better
	}
	var fields map[string]any
	_ = json.Unmarshal(asJSON, &fields) // fields stays empty for other types
	apiVersion, _ := fields["apiVersion"].(string)
	kind, _ := fields["kind"].(string)
	want := configv1.SchemeGroupVersion.String()
	if apiVersion != want || kind != "KubeSchedulerConfiguration" {
		return fmt.Errorf("apiVersion is %q and kind is %q, want %q and %q", apiVersion, kind, want, "KubeSchedulerConfiguration")
	}
	return checkLengths(fields)
}

// maxElements limits the lists of profiles, extenders, plugins and plugin arguments. kube-scheduler has 25 plugins. Each
// profile creates its own plugins: a thousand profiles take 1.9 s of CPU time and 120 MB, a hundred 0.2 s and 10 MB.
const maxElements = 100

// checkLengths returns an error for a list that is too long, before upstream's code processes its elements.
func checkLengths(fields map[string]any) error {
	check := func(path string, list any) error {
		if all, ok := list.([]any); ok && len(all) > maxElements {
			return fmt.Errorf("%s has %d elements, want at most %d", path, len(all), maxElements)
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

// member returns a field of an object, or nil.
func member(object any, name string) any {
	fields, _ := object.(map[string]any)
	return fields[name]
}

// simplify makes a decoder's error one sentence.
func simplify(err error) error {
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

// describe returns the message for a field of the wrong type, without Go type names.
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

// oneSentence joins and sorts the errors that upstream collected, whose order is random.
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

// checkPlugins returns an error for an unknown plugin. Upstream reports only unknown plugins that are enabled, when it
// creates the profile.
func checkPlugins(profile *schedulerapi.KubeSchedulerProfile) error {
	registry := frameworkplugins.NewInTreeRegistry()
	check := func(verb, plugin string) error {
		if _, ok := registry[plugin]; ok {
			return nil
		}
		return fmt.Errorf("profile %q %s plugin %q, which kube-scheduler v1.37 does not have%s",
			profile.SchedulerName, verb, plugin, didYouMean(plugin, registry))
	}
	for _, plugin := range profile.Plugins.QueueSort.Enabled {
		if plugin.Name != queuesort.Name {
			return fmt.Errorf("profile %q sorts its queue with plugin %q, but schedq supports only %s", profile.SchedulerName, plugin.Name, queuesort.Name)
		}
	}
	points := reflect.ValueOf(*profile.Plugins) // a PluginSet per extension point
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

// didYouMean returns "; did you mean X?" for the known name closest to name, at a distance of at most two letters, or "".
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

// distance returns the Levenshtein distance of a and b in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a[:i] to all prefixes of b
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
