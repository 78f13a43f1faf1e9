package tui

import (
	"strings"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/tui/canvas"
)

// concepts is where kubernetes.io explains what plugins do.
const concepts = "https://kubernetes.io/docs/concepts/"

// pluginPages are the pages about in-tree plugins.
var pluginPages = map[string]string{
	"DefaultPreemption":  "scheduling-eviction/pod-priority-preemption/",
	"DynamicResources":   "scheduling-eviction/dynamic-resource-allocation/",
	"InterPodAffinity":   "scheduling-eviction/assign-pod-node/",
	"NodeAffinity":       "scheduling-eviction/assign-pod-node/",
	"NodeName":           "scheduling-eviction/assign-pod-node/",
	"NodeResourcesFit":   "configuration/manage-resources-containers/",
	"NodeUnschedulable":  "architecture/nodes/",
	"NodeVolumeLimits":   "storage/storage-limits/",
	"PodTopologySpread":  "scheduling-eviction/topology-spread-constraints/",
	"SchedulingGates":    "scheduling-eviction/pod-scheduling-readiness/",
	"TaintToleration":    "scheduling-eviction/taint-and-toleration/",
	"VolumeBinding":      "storage/persistent-volumes/",
	"VolumeRestrictions": "storage/persistent-volumes/",
	"VolumeZone":         "storage/persistent-volumes/",
}

// newLinks returns the addresses of the words that the screen links: plugins, and the events that they listen for. No text
// of a source is part of an address.
func newLinks() canvas.Links {
	links := canvas.Links{}
	for _, event := range queue.InjectableLabels() {
		links[event] = concepts + "scheduling-eviction/scheduling-framework/"
	}
	for plugin, page := range pluginPages {
		links[plugin] = concepts + page
	}
	return links
}

// linking reports whether the terminal may be sent hyperlinks: nearly all show them or ignore them. The consoles of Linux and
// FreeBSD, and what calls itself dumb, print them.
func linking(getenv func(string) string) bool {
	switch name := getenv("TERM"); {
	case name == "", name == "dumb", name == "linux", strings.HasPrefix(name, "cons"), strings.HasPrefix(name, "vt"):
		return false
	}
	return true
}
