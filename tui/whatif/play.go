package whatif

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/sources/manifest"
	"github.com/schedq/schedq/sources/scenario"
	"github.com/schedq/schedq/tui/page"
	"github.com/schedq/schedq/tui/widget"
)

// Cluster is a cluster of the person's own: a what-if of an empty story.
type PlayCluster struct {
	*page.UI
	counts map[string]int // how many of each kind there were, for their names
}

// New returns a cluster on d, whose session tells the empty story.
func NewPlay(d *page.UI) *PlayCluster {
	return &PlayCluster{UI: d, counts: map[string]int{"node": 1}}
}

// Touched reports whether the person did anything but let the local scheduler begin.
func (p *PlayCluster) Touched() bool { return p.Frame.Fork != nil && p.Frame.Fork.Injected > 1 }

// Add adds the palette, in the place of a pod that is described.
func AddPlay(p *PlayCluster, all page.Actions) {
	all[keymap.AddPod] = page.Do(p.choosePiece).NamedBy(func() string { return "bring in" })
	for _, id := range []keymap.ID{keymap.WhatIf, keymap.LeaveWhatIf, keymap.CloseFork} { // they would leave the cluster for an empty one
		all[id] = all[id].DisabledWhen(func() string {
			return p.Keys.Say("this cluster is all there is: {undo} takes back what was brought in last")
		})
	}
}

// kind is one that the palette offers.
type kind struct{ name, text, manifest string }

// kinds are what the palette offers. NAME stands for a name that is free.
func kinds() []kind {
	node := func(cpu, labels, spec string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: NAME, labels: {%s}}\nspec: {%s}\nstatus: {allocatable: {cpu: \"%s\", memory: 16Gi, pods: \"110\"}}\n", labels, spec, cpu)
	}
	pod := func(cpu, spec string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: NAME, labels: {app: NAME}}\nspec:\n  containers: [{name: main, resources: {requests: {cpu: \"%s\"}}}]\n%s", cpu, spec)
	}
	return []kind{
		{"node", "a node with 4 CPUs", node("4", "", "")},
		{"large", "a node with 16 CPUs", node("16", "", "")},
		{"ssd", "a node with 4 CPUs and the label disk=ssd", node("4", "disk: ssd", "")},
		{"spot", "a node with 4 CPUs and the taint spot:NoSchedule", node("4", "", "taints: [{key: spot, effect: NoSchedule}]")},
		{"web", "a pod that wants 1 CPU", pod("1", "")},
		{"batch", "a pod that wants 3 CPUs", pod("3", "")},
		{"whale", "a pod that wants 12 CPUs", pod("12", "")},
		{"vip", "a pod that wants 1 CPU, with priority 1000: it may preempt", pod("1", "  priorityClassName: vip\n")},
		{"fast", "a pod that wants 1 CPU on a node with disk=ssd", pod("1", "  nodeSelector: {disk: ssd}\n")},
		{"cheap", "a pod that wants 1 CPU and tolerates spot", pod("1", "  tolerations: [{key: spot, operator: Exists}]\n")},
		{"gated", "a pod that wants 1 CPU and is gated", pod("1", "  schedulingGates: [{name: example.com/quota}]\n")},
		{"lonely", "a pod that wants 1 CPU and no pod of its kind beside it", strings.Replace(pod("1", "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: lonely}}}]}}\n"), "app: NAME", "app: lonely", 1)},
	}
}

// emptyStory is where playing begins.
const emptyStory = `schedq: scenario
version: 1
name: play
end: 24h
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: vip}
value: 1000
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "110"}}
`

// Empty is the story by a release's rules.
func EmptyScenario(release string) (*scenario.Scenario, error) {
	story, err := scenario.Parse("play", []byte(emptyStory))
	if err == nil {
		story.Release = release
	}
	return story, err
}

// choosePiece lists the palette, and brings in what is chosen.
func (p *PlayCluster) choosePiece() tea.Cmd {
	all := kinds()
	l := widget.List{Title: p.Keys.Say("bring in, at the moment shown ({undo} takes it back)"), Choose: func(chosen []int) tea.Cmd { return p.bring(all[chosen[0]]) }}
	for _, k := range all {
		l.Items = append(l.Items, widget.Item{Key: k.name, Text: k.text})
	}
	return widget.OpenList(p.UI, l, 0)
}

// bring brings one of a kind into the cluster.
func (p *PlayCluster) bring(k kind) tea.Cmd {
	if p.Frame.Fork == nil {
		return p.Refuse(p.Keys.Say("this is the empty story: {what-if} goes back to your cluster"))
	}
	p.counts[k.name]++
	name := fmt.Sprintf("%s-%d", k.name, p.counts[k.name])
	text := strings.ReplaceAll(k.manifest, "NAME", name)
	read, err := manifest.Parse(name, []byte(text))
	if err != nil {
		return p.Refuse(err.Error())
	}
	p.Session.Apply(name, read.Objects)
	return nil
}
