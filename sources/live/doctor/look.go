package doctor

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/sources"
)

// Scheduler is what shows of the cluster's scheduler.
type Scheduler struct {
	// Lease is the one that the schedulers' leader holds, NAMESPACE/NAME, Holder who does, and Since when.
	Lease  sources.SafeText `json:"lease,omitempty"`
	Holder sources.SafeText `json:"holder,omitempty"`
	Since  *time.Time       `json:"since,omitempty"`
	// Pods are those that run it. A cloud's scheduler runs elsewhere.
	Pods []Pod `json:"pods,omitempty"`
	// Pending counts the pods without a node by the scheduler that they ask for, among the first 500.
	Pending map[sources.SafeText]int `json:"pending,omitempty"`
}

// Pod is one that runs a scheduler.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Container is the one to read the log of, where the pod has several.
	Container string `json:"container,omitempty"`
	// Version is the tag of its image, if it is a version.
	Version sources.SafeText `json:"version,omitempty"`
	// Verbosity is its flag -v; 0 if it has none.
	Verbosity int `json:"verbosity"`
	// Configured are those of its flags, without their values, that schedq should know, too.
	Configured []string `json:"configured,omitempty"`
}

// node is what is looked at of one.
type node struct {
	labels                    map[string]string
	provider, kubelet, system string
}

// object is what is looked at of any object.
type object struct {
	Metadata struct {
		Namespace, Name string
		Labels          map[string]string
	}
	Spec struct {
		ProviderID     string
		NodeName       string
		SchedulerName  string
		HolderIdentity string
		AcquireTime    string
		Containers     []container
	}
	Status struct {
		NodeInfo struct{ KubeletVersion, OSImage string }
	}
}

type container struct {
	Name, Image   string
	Command, Args []string
}

// get decodes what the API server answers at path.
func (e *examination) get(ctx context.Context, path string, into any) error {
	raw, err := e.source.Get(ctx, path)
	if err != nil {
		return err
	}
	if json.Unmarshal(raw, into) != nil {
		return errAnswer
	}
	return nil
}

// list returns the objects of a list, or none if it can't be had.
func (e *examination) list(ctx context.Context, path string, query ...string) []object {
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	var list struct{ Items []object }
	if e.get(ctx, path+"?"+values.Encode(), &list) != nil {
		return nil
	}
	return list.Items
}

// How many nodes tell the platform, and how many pending pods are counted.
const (
	fewNodes = "10"
	somePods = "500"
)

// look finds what tells the platform, and what shows of the scheduler.
func (e *examination) look(ctx context.Context) {
	var groups struct{ Groups []struct{ Name string } }
	if e.get(ctx, "/apis", &groups) == nil {
		for _, g := range groups.Groups {
			e.groups = append(e.groups, g.Name)
		}
	}
	for _, o := range e.list(ctx, "/api/v1/nodes", "limit", fewNodes) {
		e.nodes = append(e.nodes, node{o.Metadata.Labels, o.Spec.ProviderID, o.Status.NodeInfo.KubeletVersion, o.Status.NodeInfo.OSImage})
	}
	for _, home := range homes {
		for _, o := range e.list(ctx, "/apis/coordination.k8s.io/v1/namespaces/"+home.namespace+"/leases", "fieldSelector", "metadata.name=kube-scheduler", "limit", "1") {
			e.lease(o)
		}
		for _, o := range e.list(ctx, "/api/v1/namespaces/"+home.namespace+"/pods", "labelSelector", home.label+"="+home.value, "limit", fewNodes) {
			if o.Metadata.Labels[home.label] == home.value {
				e.runs(o)
			}
		}
	}
	for _, o := range e.list(ctx, "/api/v1/pods", "fieldSelector", "spec.nodeName=,status.phase=Pending", "limit", somePods) {
		if o.Spec.NodeName != "" {
			continue
		}
		if e.scheduler.Pending == nil {
			e.scheduler.Pending = map[sources.SafeText]int{}
		}
		e.scheduler.Pending[sources.Sanitize(o.Spec.SchedulerName)]++
	}
}

// homes are where schedulers have their lease and their pods, and by which label those are known: kubeadm's, which
// others took over, and OpenShift's (bindata of cluster-kube-scheduler-operator).
var homes = [...]struct{ namespace, label, value string }{
	{"kube-system", "component", "kube-scheduler"},
	{"openshift-kube-scheduler", "app", "openshift-kube-scheduler"},
}

// lease notes who leads the schedulers.
func (e *examination) lease(o object) {
	s := &e.scheduler
	if s.Lease != "" || o.Spec.HolderIdentity == "" {
		return
	}
	s.Lease, s.Holder = sources.Sanitize(o.Metadata.Namespace+"/"+o.Metadata.Name), sources.Sanitize(o.Spec.HolderIdentity)
	if since, err := time.Parse(time.RFC3339Nano, o.Spec.AcquireTime); err == nil {
		since = since.UTC()
		s.Since = &since
	}
}

// configuring are the flags of kube-scheduler that schedq has, too, or that change what it should be told.
var configuring = [...]string{"config", "feature-gates"}

// runs notes a pod that runs a scheduler. Of its flags none is kept but the verbosity, and whether some are there.
func (e *examination) runs(o object) {
	if sources.CheckName(o.Metadata.Name) != nil {
		return
	}
	pod := Pod{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}
	for _, c := range o.Spec.Containers {
		if c.Name != "kube-scheduler" && len(o.Spec.Containers) > 1 {
			continue
		}
		if len(o.Spec.Containers) > 1 {
			pod.Container = c.Name
		}
		if at := strings.LastIndex(c.Image, ":v1."); at >= 0 {
			pod.Version = sources.Sanitize(c.Image[at+1:])
		}
		words := slices.Concat(c.Command, c.Args)
		for i, word := range words {
			name, value, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
			if !strings.HasPrefix(word, "-") {
				continue
			}
			if !joined && i+1 < len(words) {
				value = words[i+1]
			}
			if level, err := strconv.Atoi(value); name == "v" && err == nil && level >= 0 {
				pod.Verbosity = level
			}
			if slices.Contains(configuring[:], name) {
				pod.Configured = append(pod.Configured, "--"+name)
			}
		}
	}
	e.scheduler.Pods = append(e.scheduler.Pods, pod)
}
