package schedulerconfig

import (
	"fmt"
	"slices"

	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// Strategies are the scoring strategies of NodeResourcesFit.
func Strategies() []string {
	return []string{string(schedulerapi.LeastAllocated), string(schedulerapi.MostAllocated), string(schedulerapi.RequestedToCapacityRatio)}
}

// WithWeight returns c with another weight of a Score plugin. Weight 0 disables its scores.
func (c *Config) WithWeight(plugin string, weight int32) (*Config, error) {
	found := false
	changed, err := c.withProfiles(func(p *Profile) error {
		is := func(other schedulerapi.Plugin) bool { return other.Name == plugin }
		if p.Plugins == nil || !slices.ContainsFunc(append(p.Plugins.MultiPoint.Enabled, p.Plugins.Score.Enabled...), is) {
			return nil
		}
		found = true
		score := &p.Plugins.Score
		at := slices.IndexFunc(score.Enabled, is)
		switch {
		case weight == 0:
			score.Enabled = slices.DeleteFunc(score.Enabled, is)
			score.Disabled = append(score.Disabled, schedulerapi.Plugin{Name: plugin})
		case at >= 0:
			score.Enabled[at].Weight = weight
		default:
			score.Enabled = append(score.Enabled, schedulerapi.Plugin{Name: plugin, Weight: weight})
		}
		return nil
	})
	if !found {
		return nil, fmt.Errorf("no profile enables a plugin %q", plugin)
	}
	return changed, err
}

// WithStrategy returns c with another scoring strategy of NodeResourcesFit. shape is that of RequestedToCapacityRatio:
// pairs of a utilization, 0 to 100, and a score, 0 to 10.
func (c *Config) WithStrategy(strategy string, shape [][2]int32) (*Config, error) {
	return c.withProfiles(func(p *Profile) error {
		i := slices.IndexFunc(p.PluginConfig, func(c schedulerapi.PluginConfig) bool { return c.Name == names.NodeResourcesFit })
		if i < 0 {
			return nil
		}
		args := p.PluginConfig[i].Args.(*schedulerapi.NodeResourcesFitArgs)
		if args.ScoringStrategy == nil {
			args.ScoringStrategy = &schedulerapi.ScoringStrategy{}
		}
		args.ScoringStrategy.Type, args.ScoringStrategy.RequestedToCapacityRatio = schedulerapi.ScoringStrategyType(strategy), nil
		if len(shape) > 0 {
			ratio := &schedulerapi.RequestedToCapacityRatioParam{}
			for _, point := range shape {
				ratio.Shape = append(ratio.Shape, schedulerapi.UtilizationShapePoint{Utilization: point[0], Score: point[1]})
			}
			args.ScoringStrategy.RequestedToCapacityRatio = ratio
		}
		if err := validation.ValidateNodeResourcesFitArgs(nil, args); err != nil {
			return oneSentence(err)
		}
		return nil
	})
}

// Strategy returns the scoring strategy of NodeResourcesFit in a profile, or "" if it has none.
func (c *Config) Strategy(profile string) string {
	if args, ok := c.pluginArgs(profile, names.NodeResourcesFit).(*schedulerapi.NodeResourcesFitArgs); ok && args.ScoringStrategy != nil {
		return string(args.ScoringStrategy.Type)
	}
	return ""
}

// withProfiles returns a copy of c with changed profiles.
func (c *Config) withProfiles(change func(*Profile) error) (*Config, error) {
	changed := *c
	changed.newest, changed.Profiles = nil, nil
	for i := range c.Profiles {
		p := c.Profiles[i].DeepCopy()
		if err := change(p); err != nil {
			return nil, err
		}
		changed.Profiles = append(changed.Profiles, *p)
	}
	return &changed, nil
}
