package seed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Objects without a kind: client-go drops the kind when it decodes an object, so programs print objects without one. The
// kind follows from fields that only one kind has.

// shape contains the fields of an object that identify its kind.
type shape struct {
	Metadata *struct{ Name string }
	Spec     struct {
		Containers, Taints, Drivers, AccessModes, Devices json.RawMessage
		PodCIDR, ProviderID, ServiceName, ClusterIP       string
		Driver, NodeName                                  string
		Capacity, Resources, MinAvailable, MaxUnavailable json.RawMessage
		Pool, Finalizers, Selector, VolumeClaimTemplates  json.RawMessage
	}
	Status struct {
		NodeInfo, Allocatable json.RawMessage
	}
	Provisioner       string
	VolumeBindingMode string
	Value             *json.Number
	GlobalDefault     *bool
	PreemptionPolicy  string
	InvolvedObject    json.RawMessage
	Regarding         json.RawMessage
}

// kindByShape returns the kind of an object without one, or "" if unknown.
func kindByShape(raw []byte) (version, kind string) {
	var s shape
	if json.Unmarshal(raw, &s) != nil || s.Metadata == nil {
		return "", ""
	}
	switch {
	case s.Spec.Containers != nil:
		return "v1", "Pod"
	case s.Status.NodeInfo != nil, s.Status.Allocatable != nil, s.Spec.PodCIDR != "", s.Spec.ProviderID != "", s.Spec.Taints != nil:
		return "v1", "Node"
	case s.Spec.AccessModes != nil && s.Spec.Capacity != nil:
		return "v1", "PersistentVolume"
	case s.Spec.AccessModes != nil && s.Spec.Resources != nil:
		return "v1", "PersistentVolumeClaim"
	case s.Provisioner != "" || s.VolumeBindingMode != "":
		return "storage.k8s.io/v1", "StorageClass"
	case s.Spec.Drivers != nil:
		return "storage.k8s.io/v1", "CSINode"
	case s.Value != nil:
		return "scheduling.k8s.io/v1", "PriorityClass"
	case s.Spec.MinAvailable != nil, s.Spec.MaxUnavailable != nil:
		return "policy/v1", "PodDisruptionBudget"
	case s.Spec.Pool != nil && s.Spec.Driver != "":
		return "resource.k8s.io/v1", "ResourceSlice"
	case s.Spec.VolumeClaimTemplates != nil, s.Spec.ServiceName != "":
		return "apps/v1", "StatefulSet"
	case s.Spec.ClusterIP != "":
		return "v1", "Service"
	case s.InvolvedObject != nil:
		return "v1", "Event"
	case s.Regarding != nil:
		return "events.k8s.io/v1", "Event"
	}
	return "", ""
}

// looksNameless reports whether head begins an object or an array of objects that may be without kind.
func looksNameless(head []byte) bool {
	return bytes.Contains(head, []byte(`"metadata"`)) && !jsonKind.Match(head) &&
		(bytes.Contains(head, []byte(`"spec"`)) || bytes.Contains(head, []byte(`"provisioner"`)) || bytes.Contains(head, []byte(`"value"`)) || bytes.Contains(head, []byte(`"involvedObject"`)))
}

// errNameless is the error about an object whose shape matches several kinds, or none.
var errNameless = errors.New("it contains an object without a kind")

// nameless reads an object without a kind.
func (r *reader) nameless(raw []byte) error {
	version, kind := kindByShape(raw)
	if kind == "" {
		r.leaveOut(errNameless)
		return nil
	}
	return r.add(withKind(raw, version, kind))
}

// withKind returns the JSON of an object with its kind.
func withKind(raw []byte, version, kind string) []byte {
	named := fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q`, version, kind)
	raw = bytes.TrimSpace(raw)
	if rest := bytes.TrimSpace(raw[1:]); len(rest) > 0 && rest[0] != '}' {
		named = append(named, ',')
	}
	return append(named, raw[1:]...)
}
