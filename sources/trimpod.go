package sources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// The annotations of a claim that the VolumeBinding plugin reads (component-helpers v0.37,
// storage/volume): without the first no claim is ever bound.
const (
	annBindCompleted = "pv.kubernetes.io/bind-completed"
	// AnnSelectedNode is the node that the scheduler has selected for the claim's pod. The volume must be accessible from it.
	AnnSelectedNode = "volume.kubernetes.io/selected-node"
)

// maxImages limits the images of a node; a kubelet reports 50 (nodeStatusMaxImages).
const maxImages = 100

func trimPod(p *corev1.Pod) *corev1.Pod {
	s := &p.Spec
	return &corev1.Pod{
		ObjectMeta: trimMeta(&p.ObjectMeta),
		Spec: corev1.PodSpec{
			Volumes:                   trimVolumes(s.Volumes),
			InitContainers:            trimContainers(s.InitContainers),
			Containers:                trimContainers(s.Containers),
			RestartPolicy:             s.RestartPolicy,
			NodeSelector:              s.NodeSelector,
			NodeName:                  s.NodeName,
			HostNetwork:               s.HostNetwork,
			HostUsers:                 s.HostUsers,
			Affinity:                  s.Affinity,
			SchedulerName:             s.SchedulerName,
			Tolerations:               s.Tolerations,
			PriorityClassName:         s.PriorityClassName,
			Priority:                  s.Priority,
			PreemptionPolicy:          s.PreemptionPolicy,
			Overhead:                  s.Overhead,
			TopologySpreadConstraints: s.TopologySpreadConstraints,
			SchedulingGates:           s.SchedulingGates,
			ResourceClaims:            s.ResourceClaims,
			Resources:                 s.Resources,
			SchedulingGroup:           s.SchedulingGroup,
			// The model needs the duration of a victim's termination.
			TerminationGracePeriodSeconds: s.TerminationGracePeriodSeconds,
		},
		Status: corev1.PodStatus{
			Phase:                                p.Status.Phase,
			Conditions:                           trimConditions(p.Status.Conditions),
			NominatedNodeName:                    p.Status.NominatedNodeName,
			StartTime:                            p.Status.StartTime, // preemption compares it
			ContainerStatuses:                    trimStatuses(p.Status.ContainerStatuses),
			InitContainerStatuses:                trimStatuses(p.Status.InitContainerStatuses),
			Resize:                               p.Status.Resize,
			ResourceClaimStatuses:                p.Status.ResourceClaimStatuses,
			ExtendedResourceClaimStatus:          p.Status.ExtendedResourceClaimStatus,
			AllocatedResources:                   p.Status.AllocatedResources,
			Resources:                            p.Status.Resources,
			NodeAllocatableResourceClaimStatuses: p.Status.NodeAllocatableResourceClaimStatuses,
		},
	}
}

// trimConditions keeps only the scheduler's message. Scheduling reads no others.
func trimConditions(in []corev1.PodCondition) []corev1.PodCondition {
	says := func(c corev1.PodCondition) bool { return c.Type != corev1.PodScheduled && c.Message != "" }
	if !slices.ContainsFunc(in, says) {
		return in
	}
	out := slices.Clone(in)
	for i := range out {
		if says(out[i]) {
			out[i].Message = ""
		}
	}
	return out
}

func trimContainers(in []corev1.Container) []corev1.Container {
	if in == nil {
		return nil
	}
	out := make([]corev1.Container, len(in))
	for i := range in {
		c := &in[i]
		out[i] = corev1.Container{Name: c.Name, Image: c.Image, Ports: c.Ports, Resources: c.Resources,
			RestartPolicy: c.RestartPolicy}
	}
	return out
}

// trimStatuses keeps the resources that the kubelet allocated, which the scheduler uses for resized pods. It skips
// containers without any.
func trimStatuses(in []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for i := range in {
		if c := &in[i]; len(c.AllocatedResources) > 0 || c.Resources != nil {
			out = append(out, corev1.ContainerStatus{Name: c.Name,
				AllocatedResources: c.AllocatedResources, Resources: c.Resources})
		}
	}
	return out
}

// trimVolumes keeps the volumes that a plugin reads: claims (VolumeBinding, VolumeZone), disks with
// exclusive use (VolumeRestrictions) and inline CSI volumes (NodeVolumeLimits).
func trimVolumes(in []corev1.Volume) []corev1.Volume {
	var out []corev1.Volume
	for i := range in {
		v := corev1.Volume{Name: in[i].Name}
		switch from := &in[i].VolumeSource; {
		case from.PersistentVolumeClaim != nil:
			v.PersistentVolumeClaim = from.PersistentVolumeClaim
		case from.Ephemeral != nil:
			// The name of the claim follows from the names of the pod and the volume, so the template is not needed.
			v.Ephemeral = &corev1.EphemeralVolumeSource{}
		case from.GCEPersistentDisk != nil:
			v.GCEPersistentDisk = from.GCEPersistentDisk
		case from.AWSElasticBlockStore != nil:
			v.AWSElasticBlockStore = from.AWSElasticBlockStore
		case from.AzureDisk != nil:
			v.AzureDisk = &corev1.AzureDiskVolumeSource{DiskName: from.AzureDisk.DiskName,
				DataDiskURI: from.AzureDisk.DataDiskURI}
		case from.Cinder != nil:
			v.Cinder = &corev1.CinderVolumeSource{VolumeID: from.Cinder.VolumeID}
		case from.PortworxVolume != nil:
			v.PortworxVolume = &corev1.PortworxVolumeSource{VolumeID: from.PortworxVolume.VolumeID}
		case from.VsphereVolume != nil:
			v.VsphereVolume = &corev1.VsphereVirtualDiskVolumeSource{VolumePath: from.VsphereVolume.VolumePath}
		case from.AzureFile != nil:
			v.AzureFile = &corev1.AzureFileVolumeSource{ShareName: from.AzureFile.ShareName}
		case from.ISCSI != nil:
			v.ISCSI = &corev1.ISCSIVolumeSource{TargetPortal: from.ISCSI.TargetPortal, IQN: from.ISCSI.IQN,
				Lun: from.ISCSI.Lun, ReadOnly: from.ISCSI.ReadOnly}
		case from.RBD != nil:
			v.RBD = &corev1.RBDVolumeSource{CephMonitors: from.RBD.CephMonitors, RBDPool: from.RBD.RBDPool,
				RBDImage: from.RBD.RBDImage, ReadOnly: from.RBD.ReadOnly}
		case from.CSI != nil:
			v.CSI = &corev1.CSIVolumeSource{Driver: from.CSI.Driver}
		default:
			continue
		}
		out = append(out, v)
	}
	return out
}

func trimNode(n *corev1.Node) *corev1.Node {
	out := &corev1.Node{
		ObjectMeta: trimMeta(&n.ObjectMeta),
		Spec: corev1.NodeSpec{Unschedulable: n.Spec.Unschedulable, Taints: n.Spec.Taints,
			PodPreemptionPolicy: n.Spec.PodPreemptionPolicy},
		Status: corev1.NodeStatus{Capacity: n.Status.Capacity, Allocatable: n.Status.Allocatable,
			Images: n.Status.Images, DeclaredFeatures: n.Status.DeclaredFeatures, Features: n.Status.Features},
	}
	if len(out.Status.Images) > maxImages {
		out.Status.Images = out.Status.Images[:maxImages]
	}
	// A heartbeat changes only times, and is no event for the scheduler.
	for _, c := range n.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, corev1.NodeCondition{Type: c.Type, Status: c.Status})
	}
	return out
}

func trimClaim(c *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	out := &corev1.PersistentVolumeClaim{ObjectMeta: trimMeta(&c.ObjectMeta), Spec: c.Spec,
		Status: corev1.PersistentVolumeClaimStatus{Phase: c.Status.Phase, AccessModes: c.Status.AccessModes,
			Capacity: c.Status.Capacity}}
	out.Spec.DataSource, out.Spec.DataSourceRef = nil, nil
	out.Annotations = keepNotes(c.Annotations, annBindCompleted, AnnSelectedNode,
		corev1.BetaStorageClassAnnotation)
	return out
}

func trimVolume(v *corev1.PersistentVolume) *corev1.PersistentVolume {
	out := &corev1.PersistentVolume{ObjectMeta: trimMeta(&v.ObjectMeta), Spec: *trimInline(&v.Spec),
		Status: corev1.PersistentVolumeStatus{Phase: v.Status.Phase}}
	out.Annotations = keepNotes(v.Annotations, corev1.BetaStorageClassAnnotation)
	return out
}

// trimInline keeps the node affinity and the claim of a volume. Of its source it keeps only the kind and, for CSI, the
// driver and the handle, which NodeVolumeLimits counts.
func trimInline(s *corev1.PersistentVolumeSpec) *corev1.PersistentVolumeSpec {
	if s == nil {
		return nil
	}
	out := &corev1.PersistentVolumeSpec{Capacity: s.Capacity, AccessModes: s.AccessModes,
		StorageClassName: s.StorageClassName, VolumeMode: s.VolumeMode, NodeAffinity: s.NodeAffinity,
		VolumeAttributesClassName: s.VolumeAttributesClassName}
	if r := s.ClaimRef; r != nil {
		out.ClaimRef = &corev1.ObjectReference{Kind: r.Kind, APIVersion: r.APIVersion, Namespace: r.Namespace,
			Name: r.Name, UID: r.UID}
	}
	switch from, to := &s.PersistentVolumeSource, &out.PersistentVolumeSource; {
	case from.CSI != nil:
		to.CSI = &corev1.CSIPersistentVolumeSource{Driver: from.CSI.Driver, VolumeHandle: from.CSI.VolumeHandle}
	case from.GCEPersistentDisk != nil:
		to.GCEPersistentDisk = from.GCEPersistentDisk
	case from.AWSElasticBlockStore != nil:
		to.AWSElasticBlockStore = from.AWSElasticBlockStore
	case from.AzureDisk != nil:
		to.AzureDisk = &corev1.AzureDiskVolumeSource{DiskName: from.AzureDisk.DiskName,
			DataDiskURI: from.AzureDisk.DataDiskURI}
	case from.Cinder != nil:
		to.Cinder = &corev1.CinderPersistentVolumeSource{VolumeID: from.Cinder.VolumeID}
	case from.VsphereVolume != nil:
		to.VsphereVolume = &corev1.VsphereVirtualDiskVolumeSource{VolumePath: from.VsphereVolume.VolumePath}
	case from.PortworxVolume != nil:
		to.PortworxVolume = &corev1.PortworxVolumeSource{VolumeID: from.PortworxVolume.VolumeID}
	case from.Local != nil:
		to.Local = &corev1.LocalVolumeSource{}
	}
	return out
}
