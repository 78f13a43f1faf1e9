package explain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/sources"
)

// FieldDifference is a field of two pods. A value is empty if the pod does not have the field.
type FieldDifference struct {
	Field  string
	Values [2]sources.SafeText
}

// schedulingField is a field that scheduling reads: its value, by which pods are compared, and a short text for people.
type schedulingField struct {
	name  string
	value func(*v1.Pod) any
	text  func(*v1.Pod) []string
}

// schedulingFields are all fields that scheduling reads of a pod.
var schedulingFields = []schedulingField{
	{"requests", func(p *v1.Pod) any { return requestsOf(p) }, requestTexts},
	{"node selector", func(p *v1.Pod) any { return p.Spec.NodeSelector }, func(p *v1.Pod) []string { return pairs(p.Spec.NodeSelector) }},
	{"node affinity", nodeAffinity, nodeTerms},
	{"pod affinity", podAffinity, podTerms},
	{"topology spread", func(p *v1.Pod) any { return p.Spec.TopologySpreadConstraints }, spreadTerms},
	{"tolerations", func(p *v1.Pod) any { return p.Spec.Tolerations }, tolerationTexts},
	{"priority", func(p *v1.Pod) any { return p.Spec.Priority }, func(p *v1.Pod) []string {
		if p.Spec.Priority == nil {
			return nil
		}
		return []string{strconv.Itoa(int(*p.Spec.Priority))}
	}},
	{"preemption policy", func(p *v1.Pod) any { return p.Spec.PreemptionPolicy }, func(p *v1.Pod) []string {
		if p.Spec.PreemptionPolicy == nil {
			return nil
		}
		return []string{string(*p.Spec.PreemptionPolicy)}
	}},
	{"scheduling gates", func(p *v1.Pod) any { return p.Spec.SchedulingGates }, gateTexts},
	{"volumes", func(p *v1.Pod) any { return volumeSources(p) }, volumeClaims},
	{"device claims", func(p *v1.Pod) any { return p.Spec.ResourceClaims }, deviceClaims},
	{"host ports", func(p *v1.Pod) any { return hostPortTexts(p) }, hostPortTexts},
	{"scheduler", func(p *v1.Pod) any { return p.Spec.SchedulerName }, func(p *v1.Pod) []string { return []string{p.Spec.SchedulerName} }},
	{"pod group", func(p *v1.Pod) any { return p.Spec.SchedulingGroup }, func(p *v1.Pod) []string {
		if g := p.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
			return []string{*g.PodGroupName}
		}
		return nil
	}},
	{"labels", func(p *v1.Pod) any { return sharedLabels(p) }, func(p *v1.Pod) []string { return pairs(sharedLabels(p)) }},
}

// fieldDifferences returns the fields that scheduling reads and that differ.
func fieldDifferences(pods [2]*board.Pod) []FieldDifference {
	var all []FieldDifference
	a, b := pods[0].Object(), pods[1].Object()
	for _, f := range schedulingFields {
		if equality.Semantic.DeepEqual(f.value(a), f.value(b)) {
			continue
		}
		all = append(all, FieldDifference{f.name, distinct(f.text(a), f.text(b))})
	}
	return all
}

// distinct returns the texts of two values that differ, without the parts that both have.
func distinct(a, b []string) [2]sources.SafeText {
	without := func(all, other []string) sources.SafeText {
		var own []string
		for _, part := range all {
			if !slices.Contains(other, part) {
				own = append(own, part)
			}
		}
		return sources.Sanitize(strings.Join(own, ", "))
	}
	values := [2]sources.SafeText{without(a, b), without(b, a)}
	if values[0] == "" && values[1] == "" { // they differ in what the short texts leave out
		values[0], values[1] = sources.Sanitize(strings.Join(a, ", ")), sources.Sanitize(strings.Join(b, ", "))
	}
	return values
}

func pairs(labels map[string]string) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, key+"="+labels[key])
	}
	return all
}

func nodeAffinity(p *v1.Pod) any {
	if p.Spec.Affinity == nil {
		return (*v1.NodeAffinity)(nil)
	}
	return p.Spec.Affinity.NodeAffinity
}

// podAffinity returns the pod's affinity without that to nodes.
func podAffinity(p *v1.Pod) any {
	if p.Spec.Affinity == nil {
		return v1.Affinity{}
	}
	return v1.Affinity{PodAffinity: p.Spec.Affinity.PodAffinity, PodAntiAffinity: p.Spec.Affinity.PodAntiAffinity}
}

// volumeSources returns the sources of the volumes that scheduling reads, with the claims of ephemeral ones.
func volumeSources(p *v1.Pod) []v1.VolumeSource {
	var all []v1.VolumeSource
	for _, v := range p.Spec.Volumes {
		if v.Ephemeral != nil {
			v.VolumeSource = v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: p.Name + "-" + v.Name}}
		}
		all = append(all, v.VolumeSource)
	}
	return all
}

func hostPortTexts(p *v1.Pod) []string {
	var all []string
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			if port.HostPort != 0 {
				all = append(all, strings.TrimSuffix(fmt.Sprintf("%d/%s", port.HostPort, port.Protocol), "/"))
			}
		}
	}
	return all
}

// ownLabels are the labels that number a pod, and those that the API server copies from its node.
var ownLabels = []string{
	appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel, batchv1.JobCompletionIndexAnnotation,
	v1.LabelTopologyZone, v1.LabelTopologyRegion,
}

// sharedLabels returns the pod's labels without ownLabels.
func sharedLabels(p *v1.Pod) map[string]string {
	labels := maps.Clone(p.Labels)
	for _, name := range ownLabels {
		delete(labels, name)
	}
	return labels
}
