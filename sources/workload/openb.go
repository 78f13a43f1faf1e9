package workload

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/scenario"
)

// Formats of the tables of Alibaba's open GPU trace (github.com/alibaba/clusterdata, cluster-trace-gpu-v2023; the same in
// github.com/hkust-adsl/kubernetes-scheduler-simulator, data/README.md).
const (
	NodesFormat = "openb nodes"
	PodsFormat  = "openb pods"
)

// How the tables begin.
const (
	nodesHeader = "sn,cpu_milli,memory_mib,gpu,model"
	podsHeader  = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
)

// Labels and annotations of the simulator's data/pod_csv_to_yaml.py and data/node_yaml.
const (
	gpuMilli = "alibabacloud.com/gpu-milli"      // thousandths of GPUs
	gpuModel = "alibabacloud.com/gpu-card-model" // a node's label
	qosLabel = "alibabacloud.com/qos"
	maxPods  = 1001 // of a node
)

const (
	maxRows   = 150_000
	maxAmount = 1 << 40                 // of anything
	maxSecond = 10 * 365 * 24 * 60 * 60 // seconds
)

// openbBegan is the assumed start of the trace, which its tables do not contain.
var openbBegan = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)

// SniffOpenb returns which of the tables a file with that first line is, or "".
func SniffOpenb(line []byte) string {
	switch string(bytes.TrimRight(line, " \r")) {
	case nodesHeader:
		return NodesFormat
	case podsHeader:
		return PodsFormat
	}
	return ""
}

// ReadOpenb reads a table to its end. It skips rows that it can't read and adds a notice. An error names the file and the
// line: nothing in it can be read.
func ReadOpenb(r *lines.Reader) (*Part, error) {
	p, all, rows := &Part{}, moments{}, 0
	format := ""
	err := r.ReadAll(func(line []byte) error {
		if format == "" {
			format = SniffOpenb(line)
			return nil
		}
		if rows++; rows > maxRows {
			return r.Errorf("more than %d rows", maxRows)
		}
		if r.Cut() && bytes.Count(line, []byte(",")) < strings.Count(podsHeader, ",") && format == PodsFormat {
			return r.CutOff()
		}
		row, err := newRow(strings.Split(string(line), ","), format)
		if err != nil {
			return r.Unread(err)
		}
		if format == NodesFormat {
			p.Objects = append(p.Objects, row.node())
		} else {
			row.addPod(all)
		}
		r.Keep(sources.CostEntry)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(p.Objects)+len(all) == 0 {
		if err := r.NoContentErr(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: the table has no rows", r.Name())
	}
	if p.Moments = all.list(); len(p.Moments) > 0 {
		p.Start = openbBegan
		p.Notices = append(p.Notices, fmt.Sprintf("%s: the times count from %s, as the table has no date. GPUs are counted in thousandths of a node's, so that a pod may get "+
			"parts of several; Alibaba's scheduler shared single ones. A pod goes at its deletion time, whenever it was bound", r.Name(), openbBegan.Format(time.DateOnly)))
	}
	p.Notices = append(p.Notices, r.Notices(time.Time{})...)
	return p, nil
}

// row is a row of one of the tables.
type row struct {
	name             string
	cpu, memory      int64 // thousandths, MiB
	gpu              int64 // thousandths
	models           []string
	qos              string
	created, deleted int64 // seconds; deleted is -1 of what stays
}

// newRow reads the fields of a row.
func newRow(f []string, format string) (row, error) {
	if want := 1 + strings.Count(map[string]string{NodesFormat: nodesHeader, PodsFormat: podsHeader}[format], ","); len(f) != want {
		return row{}, fmt.Errorf("the row has %d fields, not %d", len(f), want)
	}
	of := row{name: f[0], deleted: -1}
	if err := sources.CheckName(of.name); err != nil {
		return row{}, err
	}
	type field struct {
		to    *int64
		text  string
		bound int64
	}
	count, share := int64(0), int64(1000)
	fields := []field{{&of.cpu, f[1], maxAmount}, {&of.memory, f[2], maxAmount}, {&count, f[3], 1000}}
	if format == PodsFormat {
		fields = append(fields, field{&share, f[4], 1000}, field{&of.created, f[8], maxSecond})
		if f[9] != "" {
			fields = append(fields, field{&of.deleted, f[9], maxSecond})
		}
		of.qos = f[6]
	} else if f[4] != "" {
		of.models = []string{f[4]}
	}
	for _, to := range fields {
		n, err := strconv.ParseInt(strings.TrimSuffix(to.text, ".0"), 10, 64)
		if err != nil || n < 0 || n > to.bound {
			return row{}, fmt.Errorf("\"%.40s\" is no number from 0 to %d", sources.Sanitize(to.text), to.bound)
		}
		*to.to = n
	}
	if of.gpu = count * share; format == PodsFormat && f[5] != "" {
		of.models = strings.Split(f[5], "|")
	}
	for _, m := range append(of.models, of.qos) {
		if m != "" && sources.CheckName(strings.ToLower(m)) != nil {
			return row{}, fmt.Errorf("\"%.40s\" is no label", sources.Sanitize(m))
		}
	}
	if of.deleted >= 0 && of.deleted < of.created {
		return row{}, errors.New("the pod is deleted before it is created")
	}
	return of, nil
}

// resources are the capacity or the requests of a row.
func (r row) resources() v1.ResourceList {
	list := v1.ResourceList{v1.ResourceCPU: *resource.NewMilliQuantity(r.cpu, resource.DecimalSI), v1.ResourceMemory: *resource.NewQuantity(r.memory<<20, resource.BinarySI)}
	if r.gpu > 0 {
		list[gpuMilli] = *resource.NewQuantity(r.gpu, resource.DecimalSI)
	}
	return list
}

func (r row) node() *v1.Node {
	n := &v1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: r.name, UID: types.UID("node-" + r.name), Labels: map[string]string{v1.LabelHostname: r.name}}}
	if len(r.models) > 0 {
		n.Labels[gpuModel] = r.models[0]
	}
	n.Status.Allocatable = r.resources()
	n.Status.Allocatable[v1.ResourcePods] = *resource.NewQuantity(maxPods, resource.DecimalSI)
	n.Status.Capacity = n.Status.Allocatable
	return n
}

// addPod adds the creation and the deletion of the pod of a row.
func (r row) addPod(all moments) {
	pod := &v1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: r.name, UID: types.UID("pod-" + r.name)}}
	if r.qos != "" {
		pod.Labels = map[string]string{qosLabel: r.qos}
	}
	priority := int32(0)
	pod.Spec.SchedulerName, pod.Spec.Priority, pod.Spec.RestartPolicy = v1.DefaultSchedulerName, &priority, v1.RestartPolicyOnFailure
	pod.Spec.Containers = []v1.Container{{Name: "main", Resources: v1.ResourceRequirements{Requests: r.resources()}}}
	if len(r.models) > 0 {
		pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
			MatchExpressions: []v1.NodeSelectorRequirement{{Key: gpuModel, Operator: v1.NodeSelectorOpIn, Values: r.models}}}}}}}
	}
	come := all.at(r.created)
	come.Objects = append(come.Objects, pod)
	if r.deleted >= 0 {
		gone := all.at(max(r.deleted, r.created+1))
		gone.Delete = append(gone.Delete, scenario.Object{Kind: "Pod", NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}})
	}
}
