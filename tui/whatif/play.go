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

// PlayCluster is the user's own cluster: a what-if of an empty story.
type PlayCluster struct {
	*page.UI
	counts map[string]int // objects per kind so far, for their names
}

// NewPlay returns a cluster on d, whose session plays the empty story.
func NewPlay(d *page.UI) *PlayCluster {
	return &PlayCluster{UI: d, counts: map[string]int{"node": 1}}
}

// Touched reports whether the user did anything except start the local scheduler.
func (p *PlayCluster) Touched() bool { return p.Frame.Fork != nil && p.Frame.Fork.Injected > 1 }

// Add adds the palette, in place of the prompt for a new pod.
func AddPlay(p *PlayCluster, all page.Actions) {
	all[keymap.AddPod] = page.Do(p.choosePiece).NamedBy(func() string { return "add object" })
	for _, id := range []keymap.ID{keymap.WhatIf, keymap.CloseFork} { // they would leave the cluster
		all[id] = all[id].DisabledWhen(func() string {
			return p.Keys.Say("this cluster is your what-if: {undo} takes back the last addition")
		})
	}
}

// kind is an entry of the palette.
type kind struct{ name, text, manifest string }

// kinds returns the palette. NAME stands for an unused name.
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
		{"lonely", "a pod that wants 1 CPU, one per node", strings.Replace(pod("1", "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: lonely}}}]}}\n"), "app: NAME", "app: lonely", 1)},
	}
}

// emptyStory is the initial state.
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

// Empty returns the story under a release's rules.
func EmptyScenario(release string) (*scenario.Scenario, error) {
	story, err := scenario.Parse("play", []byte(emptyStory))
	if err == nil {
		story.Release = release
	}
	return story, err
}

// choosePiece lists the palette and adds the chosen object.
func (p *PlayCluster) choosePiece() tea.Cmd {
	all := kinds()
	l := widget.List{Title: p.Keys.Say("add now ({undo} takes it back)"), Choose: func(chosen []int) tea.Cmd { return p.bring(all[chosen[0]]) }}
	for _, k := range all {
		l.Items = append(l.Items, widget.Item{Key: k.name, Text: k.text})
	}
	return widget.OpenList(p.UI, l, 0)
}

// bring adds an object of a kind to the cluster.
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
