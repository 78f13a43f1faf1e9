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

// Scheduler is what the API shows of the cluster's scheduler.
type Scheduler struct {
	// Lease is the leader election lease, as NAMESPACE/NAME. Holder has held it since Since.
	Lease  sources.SafeText `json:"lease,omitempty"`
	Holder sources.SafeText `json:"holder,omitempty"`
	Since  *time.Time       `json:"since,omitempty"`
	// Pods run the scheduler. Managed schedulers have no pods in the cluster.
	Pods []Pod `json:"pods,omitempty"`
	// Pending counts the pending pods by scheduler name, among the first 500.
	Pending map[sources.SafeText]int `json:"pending,omitempty"`
}

// Pod is a pod that runs a scheduler.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Container is the scheduler's container if the pod has several.
	Container string `json:"container,omitempty"`
	// Version is the image tag if it is a version.
	Version sources.SafeText `json:"version,omitempty"`
	// Verbosity is the value of its -v flag; 0 without one.
	Verbosity int `json:"verbosity"`
	// Configured lists its flags, without values, that schedq should be given, too.
	Configured []string `json:"configured,omitempty"`
}

// node holds the fields of a node that identify the platform.
type node struct {
	labels                    map[string]string
	provider, kubelet, system string
}

// object holds the fields of any object that doctor reads.
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

// get decodes the API server's response at path.
func (e *examination) get(ctx context.Context, path string, into any) error {
	raw, err := e.source.Get(ctx, path)
	if err != nil {
		return err
	}
	if json.Unmarshal(raw, into) != nil {
		return errUnexpectedJSON
	}
	return nil
}

// list returns the objects of a list, or nil on an error. query alternates keys and values.
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

// The limits of lists.
const (
	maxNodes   = "10"
	maxPending = "500"
)

// collect reads what identifies the platform, and everything about the scheduler.
func (e *examination) collect(ctx context.Context) {
	var groups struct{ Groups []struct{ Name string } }
	if e.get(ctx, "/apis", &groups) == nil {
		for _, g := range groups.Groups {
			e.groups = append(e.groups, g.Name)
		}
	}
	for _, o := range e.list(ctx, "/api/v1/nodes", "limit", maxNodes) {
		e.nodes = append(e.nodes, node{o.Metadata.Labels, o.Spec.ProviderID, o.Status.NodeInfo.KubeletVersion, o.Status.NodeInfo.OSImage})
	}
	for _, l := range locations {
		for _, o := range e.list(ctx, "/apis/coordination.k8s.io/v1/namespaces/"+l.namespace+"/leases", "fieldSelector", "metadata.name=kube-scheduler", "limit", "1") {
			e.lease(o)
		}
		for _, o := range e.list(ctx, "/api/v1/namespaces/"+l.namespace+"/pods", "labelSelector", l.label+"="+l.value, "limit", maxNodes) {
			if o.Metadata.Labels[l.label] == l.value {
				e.schedulerPod(o)
			}
		}
	}
	for _, o := range e.list(ctx, "/api/v1/pods", "fieldSelector", "spec.nodeName=,status.phase=Pending", "limit", maxPending) {
		if o.Spec.NodeName != "" {
			continue
		}
		if e.scheduler.Pending == nil {
			e.scheduler.Pending = map[sources.SafeText]int{}
		}
		e.scheduler.Pending[sources.Sanitize(o.Spec.SchedulerName)]++
	}
}

// locations are the namespaces of the scheduler's lease and pods, and the label of the pods: kubeadm's,
// which others use as well, and OpenShift's (bindata of cluster-kube-scheduler-operator).
var locations = [...]struct{ namespace, label, value string }{
	{"kube-system", "component", "kube-scheduler"},
	{"openshift-kube-scheduler", "app", "openshift-kube-scheduler"},
}

// lease records the leader.
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

// configFlags are the flags of kube-scheduler for which schedq needs the same value.
var configFlags = [...]string{"config", "feature-gates"}

// schedulerPod records a pod that runs a scheduler. Of its flags it keeps only the verbosity and the
// names of configFlags.
func (e *examination) schedulerPod(o object) {
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
			if slices.Contains(configFlags[:], name) {
				pod.Configured = append(pod.Configured, "--"+name)
			}
		}
	}
	e.scheduler.Pods = append(e.scheduler.Pods, pod)
}
