package verdict

import (
	"slices"
	"strings"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// reasonPlugins are the plugins of those reasons that one plugin alone gives, in the words of v1.37: a test compares them with
// upstream's constants. The beginnings of others are in PluginOf.
var reasonPlugins = map[string]string{
	"node(s) didn't match Pod's node affinity/selector":                             names.NodeAffinity,
	"node(s) didn't match the requested node name":                                  names.NodeName,
	"node(s) didn't have free ports for the requested pod ports":                    names.NodePorts,
	"node(s) were unschedulable":                                                    names.NodeUnschedulable,
	"node(s) had unknown conditions":                                                names.NodeUnschedulable,
	"node(s) had untolerated taint(s)":                                              names.TaintToleration, // no constant upstream
	"node(s) didn't match pod affinity rules":                                       names.InterPodAffinity,
	"node(s) didn't match pod anti-affinity rules":                                  names.InterPodAffinity,
	"node(s) didn't satisfy existing pods anti-affinity rules":                      names.InterPodAffinity,
	"node(s) didn't match pod topology spread constraints":                          names.PodTopologySpread,
	"node(s) didn't match pod topology spread constraints (missing required label)": names.PodTopologySpread,
	"node(s) exceed max volume count":                                               names.NodeVolumeLimits,
	"node(s) had no available disk":                                                 names.VolumeRestrictions,
	"node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod": names.VolumeRestrictions,
	"node(s) had no available volume zone":                                      names.VolumeZone,
	"node(s) didn't find available persistent volumes to bind":                  names.VolumeBinding,
	"node(s) didn't match PersistentVolume's node affinity":                     names.VolumeBinding,
	"node(s) did not have enough free storage":                                  names.VolumeBinding,
	"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)": names.VolumeBinding,
	"pod has unbound immediate PersistentVolumeClaims":                          names.VolumeBinding, // no constant upstream
	"Too many pods": names.NodeResourcesFit,
}

// PluginOf returns the in-tree plugin that gives that reason in a message, which names no plugins: NodeResourcesFit
// for "Insufficient cpu". It is empty if several plugins give it or it is not known.
func PluginOf(reason string) string {
	switch {
	case strings.HasPrefix(reason, "Insufficient "):
		return names.NodeResourcesFit
	case strings.HasPrefix(reason, "node(s) had untolerated taint {"): // older releases name one
		return names.TaintToleration
	}
	return reasonPlugins[reason]
}

// Rejectors is PluginsOf for a scheduler of that release, "" for the newest, which also knows the PreFilter plugin that misses a claim.
func Rejectors(message, release string) []string {
	plugins, all := PluginsOf(message)
	if all || len(plugins) == 0 {
		return plugins
	}
	_, reasons, _ := ReadMessage(message)
	if !slices.ContainsFunc(reasons, func(r Reason) bool { return isMissingClaim(string(r.Text)) }) {
		return plugins
	}
	missing := names.VolumeRestrictions
	if release != "" && release < "v1.27" { // ReadWriteOncePod is off
		missing = names.VolumeBinding
	}
	plugins = slices.DeleteFunc(plugins, func(p string) bool { return p == UnknownPlugin || p == missing })
	plugins = append(plugins, missing)
	slices.Sort(plugins)
	return plugins
}

// isMissingClaim reports whether a reason is that of a pod whose claim does not exist. The first PreFilter plugin that reads
// claims gives it.
func isMissingClaim(reason string) bool {
	return strings.HasPrefix(reason, `persistentvolumeclaim "`) && strings.HasSuffix(reason, `" not found`)
}
