package command

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/schedq/schedq/queue/session"
	"github.com/schedq/schedq/queue/session/opinion"
	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/tui/format"
)

// issue returns c in GitHub's Markdown, for a public issue: names and labels are replaced.
func issue(c *session.Case, program string, names *publicNames) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "### What happened\n\n")
	verdict := c.Opinion()
	switch {
	case verdict != nil:
		fmt.Fprintf(&b, "%s\n\n", inMarkdown(string(verdict.Sentence)))
		for _, e := range verdict.Evidence {
			fmt.Fprintf(&b, "- %s %s\n", e.Time.Format("15:04:05.000"), inMarkdown(string(e.Text)))
		}
		b.WriteByte('\n')
	case c.Conclusion != nil:
		fmt.Fprintf(&b, "%s\n\n", inMarkdown(string(c.Summary)))
	}
	fmt.Fprintf(&b, "### What was expected\n\n%s\n\n", expected(verdict))
	fmt.Fprintf(&b, "### Versions\n\nkube-scheduler %s. The report is by schedq %s, from what the API server, its audit log or the scheduler's log show.\n\n", cmp.Or(c.Release, "of an unknown release"), program)

	fmt.Fprintf(&b, "### Moves of the pod\n\nTimes are UTC. Modelled moves are inferred, all others are in the source.\n\n")
	if c.Earlier {
		fmt.Fprintf(&b, "Only the last %d.\n\n", len(c.Moves))
	}
	var rows [][]string
	for _, m := range c.Moves {
		rows = append(rows, []string{m.Time.UTC().Format("15:04:05.000"), words.TierWord(m.From), words.TierWord(m.To), m.Event, strings.Join(m.UnschedulablePlugins, ", "), m.Provenance()})
	}
	markdownTable(&b, []string{"time", "from", "to", "event", "rejected by", ""}, rows)
	if a := c.LastAttempt; a != nil && len(a.Reasons) > 0 {
		rows = nil
		for _, r := range a.Reasons {
			rows = append(rows, []string{fmt.Sprint(r.Nodes), r.Plugin, string(r.Reason)})
		}
		fmt.Fprintf(&b, "The last attempt failed at %s, over %s:\n\n", a.Time.Format("15:04:05.000"), format.Plural(a.Nodes, "node"))
		markdownTable(&b, []string{"nodes", "plugin", "reason"}, rows)
	}
	text := names.replace(b.String())
	objects, err := issueObjects(c, names)
	if err != nil {
		return "", err
	}
	return text + "### Objects\n\nNames, labels and their values are replaced.\n\n```yaml\n" + objects + "```\n", nil
}

// expected returns what upstream's code does where a pod with that verdict waits.
func expected(v *opinion.Shown) string {
	if v == nil {
		return "(What did you expect?)"
	}
	switch v.Code {
	case opinion.Lost:
		return "A pod that is neither bound nor deleted stays in one of the scheduler's queues. The leftover flush retries it after podMaxInUnschedulablePodsDuration, which is 5 minutes, and 30 seconds at the latest."
	case opinion.StaleView:
		return "The scheduler's cache has what the node's object shows for more than a minute."
	case opinion.MissedWakeUp:
		return "The event moves the pod to activeQ or backoffQ: a plugin that rejected it registers the event, and its queueing hint returns Queue."
	case opinion.Starved:
		return "The scheduler tries the pod: it fits."
	case opinion.NoScheduler:
		return "A running scheduler has a profile with the pod's schedulerName."
	}
	return "The pod waits as it should. The scheduler is not at fault."
}

// issueObjects returns the pod and the nodes of c as YAML, reduced to what scheduling uses.
func issueObjects(c *session.Case, names *publicNames) (string, error) {
	objects := []runtime.Object{issuePod(c.Object)}
	for _, n := range c.Nodes {
		objects = append(objects, &v1.Node{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels},
			Spec: v1.NodeSpec{Taints: n.Spec.Taints, Unschedulable: n.Spec.Unschedulable}, Status: v1.NodeStatus{Allocatable: n.Status.Allocatable},
		})
	}
	var texts []string
	for _, obj := range objects {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			return "", err
		}
		if status, is := fields["status"].(map[string]any); is {
			delete(status, "nodeInfo") // not a pointer, so it is there although empty
			delete(status, "daemonEndpoints")
		}
		text, err := yaml.Marshal(names.replaceIn("", withoutEmpty(fields)))
		if err != nil {
			return "", err
		}
		texts = append(texts, string(text))
	}
	return strings.Join(texts, "---\n"), nil
}

// issuePod returns what scheduling uses of pod.
func issuePod(pod *v1.Pod) *v1.Pod {
	spec := &pod.Spec
	public := &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, Labels: pod.Labels, CreationTimestamp: pod.CreationTimestamp},
		Spec: v1.PodSpec{
			NodeName: spec.NodeName, SchedulerName: spec.SchedulerName, Priority: spec.Priority, PreemptionPolicy: spec.PreemptionPolicy,
			NodeSelector: spec.NodeSelector, Affinity: spec.Affinity, Tolerations: spec.Tolerations,
			TopologySpreadConstraints: spec.TopologySpreadConstraints, SchedulingGates: spec.SchedulingGates,
			ResourceClaims: spec.ResourceClaims, Overhead: spec.Overhead, Resources: spec.Resources,
			InitContainers: issueContainers(spec.InitContainers), Containers: issueContainers(spec.Containers),
		},
		Status: v1.PodStatus{Phase: pod.Status.Phase, NominatedNodeName: pod.Status.NominatedNodeName},
	}
	for _, v := range spec.Volumes {
		if v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			public.Spec.Volumes = append(public.Spec.Volumes, v)
		}
	}
	return public.DeepCopy()
}

func issueContainers(all []v1.Container) (public []v1.Container) {
	for i, c := range all {
		var ports []v1.ContainerPort
		for _, p := range c.Ports {
			if p.HostPort != 0 { // without its address
				ports = append(ports, v1.ContainerPort{HostPort: p.HostPort, ContainerPort: p.ContainerPort, Protocol: p.Protocol})
			}
		}
		public = append(public, v1.Container{Name: fmt.Sprintf("container-%d", i+1), Resources: c.Resources, Ports: ports, RestartPolicy: c.RestartPolicy})
	}
	return public
}

// withoutEmpty removes empty objects and lists, and null, from fields.
func withoutEmpty(fields map[string]any) map[string]any {
	for key, value := range fields {
		switch v := value.(type) {
		case nil:
			delete(fields, key)
		case map[string]any:
			if len(withoutEmpty(v)) == 0 {
				delete(fields, key)
			}
		case []any:
			for _, item := range v {
				if m, is := item.(map[string]any); is {
					withoutEmpty(m)
				}
			}
			if len(v) == 0 {
				delete(fields, key)
			}
		}
	}
	return fields
}

// publicNames replaces the names of a cluster by names that reveal nothing: "pod-1", "node-2". A name always gets the same one.
// Labels and their values are only replaced in objects and in the taints of messages: elsewhere a value such as "lost" is a word.
type publicNames struct {
	names, labels map[string]string
	count         map[string]int
}

// namesOf returns the replacements for all names of rec. That of the pod is pod-1.
func namesOf(ctx context.Context, rec *sources.Recording, pod types.NamespacedName) (*publicNames, error) {
	n := &publicNames{names: map[string]string{}, labels: map[string]string{}, count: map[string]int{}}
	n.addPod(pod)
	for ev, err := range rec.All(ctx) {
		if err != nil {
			return nil, err
		}
		switch f := ev.Fact.(type) {
		case *sources.ObjectChange:
			n.addObject(f.Object)
		case *sources.Move:
			n.addPod(f.Pod)
			n.add("node", f.Node)
		case *sources.FailedAttempt:
			n.addPod(f.Pod)
		case *sources.Bound:
			n.addPod(f.Pod)
			n.add("node", f.Node)
		case *sources.Discarded:
			n.addPod(f.Pod)
		}
	}
	return n, ctx.Err()
}

func (n *publicNames) addPod(pod types.NamespacedName) {
	n.add("pod", pod.Name)
	n.add("namespace", pod.Namespace)
}

// addObject adds the names in obj that sentences about a pod may contain.
func (n *publicNames) addObject(obj runtime.Object) {
	m, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	n.add(kindOf(obj), m.GetName())
	n.add("namespace", m.GetNamespace())
	n.addLabels(m.GetLabels())
	switch o := obj.(type) {
	case *v1.Pod:
		n.add("node", o.Spec.NodeName)
		n.add("scheduler", o.Spec.SchedulerName)
		n.add("priorityclass", o.Spec.PriorityClassName)
		n.addLabels(o.Spec.NodeSelector)
		for _, g := range o.Spec.SchedulingGates {
			n.add("gate", g.Name)
		}
		for _, t := range o.Spec.Tolerations {
			n.addLabels(map[string]string{t.Key: t.Value})
		}
		for _, v := range o.Spec.Volumes {
			if c := v.PersistentVolumeClaim; c != nil {
				n.add("persistentvolumeclaim", c.ClaimName)
			}
			n.add("volume", v.Name)
		}
	case *v1.Node:
		for _, t := range o.Spec.Taints {
			n.addLabels(map[string]string{t.Key: t.Value})
		}
		for _, resource := range slices.Sorted(maps.Keys(o.Status.Allocatable)) {
			n.add("resource", string(resource))
		}
	}
}

func kindOf(obj runtime.Object) string {
	kind := fmt.Sprintf("%T", obj)
	return strings.ToLower(kind[strings.LastIndexByte(kind, '.')+1:])
}

func (n *publicNames) addLabels(labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		n.add("label", key)
		if key != v1.LabelOSStable && key != v1.LabelArchStable {
			n.add("value", labels[key])
		}
	}
}

// wellKnown are names that every cluster has.
var wellKnown = regexp.MustCompile(`^(|default|kube-system|kube-public|kube-node-lease|default-scheduler|cpu|memory|pods|ephemeral-storage|hugepages-.*|system-(cluster|node)-critical|true|false|[0-9]+|[a-z]|.*\b(kubernetes|k8s)\.io(/.*)?)$`)

func isWellKnown(name string) bool { return wellKnown.MatchString(name) }

// add adds a name of that kind.
func (n *publicNames) add(kind, name string) {
	if isWellKnown(name) {
		return
	}
	public := n.names
	if kind == "label" || kind == "value" {
		public = n.labels
	}
	if _, known := public[name]; !known {
		n.count[kind]++
		public[name] = fmt.Sprintf("%s-%d", kind, n.count[kind])
	}
}

// namePattern matches what may be a name, or names joined by slashes.
var namePattern = regexp.MustCompile(`[A-Za-z0-9][-A-Za-z0-9_.]*(/[-A-Za-z0-9_.]+)*`)

// taintPattern matches a taint in a scheduler's message.
var taintPattern = regexp.MustCompile(`\{([^:{}]+): ([^{}]*)\}`)

// replace replaces all names in text.
func (n *publicNames) replace(text string) string {
	text = taintPattern.ReplaceAllStringFunc(text, func(taint string) string {
		m := taintPattern.FindStringSubmatch(taint)
		n.addLabels(map[string]string{m[1]: m[2]})
		return "{" + cmp.Or(n.labels[m[1]], m[1]) + ": " + cmp.Or(n.labels[m[2]], m[2]) + "}"
	})
	return namePattern.ReplaceAllStringFunc(text, func(token string) string {
		if public := replaceOne(n.names, token); public != token {
			return public
		}
		parts := strings.Split(token, "/")
		for i, part := range parts {
			parts[i] = replaceOne(n.names, part)
		}
		return strings.Join(parts, "/")
	})
}

// replaceOne replaces token, which may end a sentence.
func replaceOne(public map[string]string, token string) string {
	name := strings.TrimRight(token, ".-_")
	if p, known := public[name]; known {
		return p + token[len(name):]
	}
	return token
}

// Fields whose strings are names, with the kind of the name, and fields whose keys are.
var (
	nameFields = map[string]string{
		"namespace": "namespace", "namespaces": "namespace", "nodeName": "node", "nominatedNodeName": "node", "schedulerName": "scheduler",
		"key": "label", "topologyKey": "label", "labelSelectorKey": "label", "matchLabelKeys": "label", "mismatchLabelKeys": "label",
		"value": "value", "values": "value", "name": "name", "claimName": "persistentvolumeclaim", "storageClassName": "storageclass",
		"resourceClaimName": "resourceclaim", "resourceClaimTemplateName": "resourceclaimtemplate", "volumeName": "persistentvolume",
	}
	keyFields = map[string]string{
		"labels": "label", "matchLabels": "label", "nodeSelector": "label",
		"requests": "resource", "limits": "resource", "allocatable": "resource", "overhead": "resource",
	}
)

// replaceIn replaces the names in value, which is that of a field of an object.
func (n *publicNames) replaceIn(field string, value any) any {
	switch v := value.(type) {
	case string:
		kind, is := nameFields[field]
		if !is || containerName.MatchString(v) {
			return n.replace(v)
		}
		n.add(kind, v)
		return n.public(kind, v)
	case map[string]any:
		public := make(map[string]any, len(v))
		for key, item := range v {
			if kind, is := keyFields[field]; is {
				n.add(kind, key)
				if kind == "label" {
					item = n.labelValue(key, item)
				}
				public[n.public(kind, key)] = item
			} else {
				public[key] = n.replaceIn(key, item)
			}
		}
		return public
	case []any:
		for i := range v {
			v[i] = n.replaceIn(field, v[i])
		}
	}
	return value
}

// public returns the replacement of a name of that kind, or name if it needs none.
func (n *publicNames) public(kind, name string) string {
	if kind == "label" || kind == "value" {
		return cmp.Or(n.labels[name], name)
	}
	return cmp.Or(n.names[name], name)
}

// labelValue returns the replacement of the value of a label.
func (n *publicNames) labelValue(key string, value any) any {
	text, is := value.(string)
	if !is {
		return value
	}
	if key == v1.LabelOSStable || key == v1.LabelArchStable {
		return text
	}
	if public, known := n.names[text]; known { // such as a node's own name
		return public
	}
	n.add("value", text)
	return n.public("value", text)
}

// containerName matches the names that issueContainers gives.
var containerName = regexp.MustCompile(`^container-[0-9]+$`)
