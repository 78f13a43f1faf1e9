package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/sources/manifest"
	"github.com/schedq/schedq/sources/scenario"
)

// playing is a cluster of the person's own: a what-if of an empty story, and what was brought into it.
type playing struct {
	scenario *scenario.Scenario
	brought  []brought
	counts   map[string]int // how many of each kind there were, for their names
}

// brought is something that the person brought in.
type brought struct {
	moment scenario.Moment
	// after is how many injections there were with it: it is taken back when there are fewer.
	after int
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

// emptyCluster is the story by a release's rules.
func emptyCluster(release string) (*scenario.Scenario, error) {
	story, err := scenario.Parse("play", []byte(emptyStory))
	if err == nil {
		story.Release = release
	}
	return story, err
}

// newPlay returns a screen to play with a cluster.
func newPlay(ctx context.Context, story *scenario.Scenario, opts session.Options, o Options) *model {
	m := newModel(ctx, session.New(story.Recording(), opts), o)
	m.play = &playing{scenario: story, counts: map[string]int{"node": 1}}
	m.actions[keymap.AddPod] = action{do: m.choosePiece, name: func() string { return "bring in" }}
	if b, ok := m.keys.ByID(keymap.AddPod); ok {
		m.onBar = slices.Insert(m.onBar, 0, b)
	}
	m.session.ToggleScheduler()
	return m
}

// NewPlay returns a screen with a cluster of one small node to play with, by a release's rules: empty is the
// newest. It is made as NewLesson makes one with a lesson.
func NewPlay(ctx context.Context, release string, opts session.Options, o Options) (tea.Model, error) {
	story, err := emptyCluster(release)
	if err != nil {
		return nil, err
	}
	return newPlay(ctx, story, opts, o), nil
}

// RunPlay shows it on the terminal, and returns as a scenario what the person made.
func RunPlay(ctx context.Context, release string, opts session.Options, o Options) (*scenario.Scenario, error) {
	story, err := emptyCluster(release)
	if err != nil {
		return nil, err
	}
	var shown *model
	err = run(ctx, o, func(ctx context.Context, o Options) *model {
		shown = newPlay(ctx, story, opts, o)
		return shown
	})
	if err != nil {
		return nil, err
	}
	return shown.made(), nil
}

// choosePiece lists the palette, and brings in what is chosen.
func (m *model) choosePiece() tea.Cmd {
	all := kinds()
	l := list{title: "bring in, at the moment shown (Z takes it back)", choose: func(chosen []int) tea.Cmd { return m.bring(all[chosen[0]]) }}
	for _, k := range all {
		l.items = append(l.items, item{key: k.name, text: k.text})
	}
	m.openList(l)
	return nil
}

// bring brings one of a kind into the cluster.
func (m *model) bring(k kind) tea.Cmd {
	p := m.play
	if m.frame.Fork == nil {
		return m.tell(notice{"this is the empty story: w goes back to your cluster", true})
	}
	p.counts[k.name]++
	name := fmt.Sprintf("%s-%d", k.name, p.counts[k.name])
	text := strings.ReplaceAll(k.manifest, "NAME", name)
	read, err := manifest.Parse(name, []byte(text))
	if err != nil {
		return m.tell(notice{err.Error(), true})
	}
	p.forget(m.frame.Fork.Injected)
	at := m.frame.Now.Sub(m.frame.Fork.From)
	p.brought = append(p.brought, brought{scenario.Moment{At: at, Objects: read.Objects}, m.frame.Fork.Injected + 1})
	m.session.Apply(name, read.Objects)
	return nil
}

// forget drops what was taken back.
func (p *playing) forget(injected int) {
	for len(p.brought) > 0 && p.brought[len(p.brought)-1].after > injected {
		p.brought = p.brought[:len(p.brought)-1]
	}
}

// made is what the person made, as a scenario. Only what came from the palette is in it.
func (m *model) made() *scenario.Scenario {
	p := m.play
	s := *p.scenario
	s.End = time.Minute
	if f := m.frame.Fork; f != nil {
		p.forget(f.Injected)
		s.End = max(s.End, m.frame.Now.Sub(f.From)+30*time.Second)
	}
	s.Moments = nil
	for _, b := range p.brought {
		s.Moments = append(s.Moments, b.moment)
	}
	return &s
}
