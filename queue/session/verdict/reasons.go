package verdict

import (
	"strings"

	"github.com/schedq/schedq/queue/pluginname"
)

// reasonPlugins are the plugins of those reasons that one plugin alone gives, in the words of v1.37: a test compares them with
// upstream's constants. The beginnings of others are in PluginOf.
var reasonPlugins = map[string]string{
	"node(s) didn't match Pod's node affinity/selector":                             pluginname.NodeAffinity,
	"node(s) didn't match the requested node name":                                  pluginname.NodeName,
	"node(s) didn't have free ports for the requested pod ports":                    pluginname.NodePorts,
	"node(s) were unschedulable":                                                    pluginname.NodeUnschedulable,
	"node(s) had unknown conditions":                                                pluginname.NodeUnschedulable,
	"node(s) had untolerated taint(s)":                                              pluginname.TaintToleration, // no constant upstream
	"node(s) didn't match pod affinity rules":                                       pluginname.InterPodAffinity,
	"node(s) didn't match pod anti-affinity rules":                                  pluginname.InterPodAffinity,
	"node(s) didn't satisfy existing pods anti-affinity rules":                      pluginname.InterPodAffinity,
	"node(s) didn't match pod topology spread constraints":                          pluginname.PodTopologySpread,
	"node(s) didn't match pod topology spread constraints (missing required label)": pluginname.PodTopologySpread,
	"node(s) exceed max volume count":                                               pluginname.NodeVolumeLimits,
	"node(s) had no available disk":                                                 pluginname.VolumeRestrictions,
	"node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod": pluginname.VolumeRestrictions,
	"node(s) had no available volume zone":                                      pluginname.VolumeZone,
	"node(s) didn't find available persistent volumes to bind":                  pluginname.VolumeBinding,
	"node(s) didn't match PersistentVolume's node affinity":                     pluginname.VolumeBinding,
	"node(s) did not have enough free storage":                                  pluginname.VolumeBinding,
	"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)": pluginname.VolumeBinding,
	"pod has unbound immediate PersistentVolumeClaims":                          pluginname.VolumeBinding, // no constant upstream
	"Too many pods": pluginname.NodeResourcesFit,
}

// PluginOf returns the in-tree plugin that gives that reason in a message, which names no plugins: NodeResourcesFit
// for "Insufficient cpu". It is empty if several plugins give it or it is not known.
func PluginOf(reason string) string {
	switch {
	case strings.HasPrefix(reason, "Insufficient "):
		return pluginname.NodeResourcesFit
	case strings.HasPrefix(reason, "node(s) had untolerated taint {"): // older releases name one
		return pluginname.TaintToleration
	}
	return reasonPlugins[reason]
}
