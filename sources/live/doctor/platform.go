package doctor

import (
	"slices"
	"strings"
)

// Platform is the distribution or cloud that runs the control plane.
type Platform struct {
	// Name is the name in docs/use/platforms.md; empty if unknown.
	Name string `json:"name"`
	// Reason says how it was detected.
	Reason string `json:"because,omitempty"`
}

// The detected platforms.
const (
	eks       = "EKS"
	gke       = "GKE"
	aks       = "AKS"
	openshift = "OpenShift"
	k3s       = "k3s"
	rke2      = "RKE2"
	kind      = "kind"
	minikube  = "minikube"
	talos     = "Talos"
	kubeadm   = "kubeadm"
)

// sign identifies a platform by a substring of one of the texts below.
type sign struct {
	platform, in, substring string
}

// The texts.
const (
	inVersion  = "the API server's version"
	inGroups   = "an API group"
	inLabels   = "a node's label"
	inProvider = "a node's providerID"
	inKubelet  = "a kubelet's version"
	inSystem   = "a node's operating system"
	inHost     = "the API server's name"
)

// signs are checked in order. OpenShift comes first, since it runs on all clouds.
var signs = [...]sign{
	{openshift, inGroups, "config.openshift.io"},
	{openshift, inLabels, "node.openshift.io/os_id"},
	{eks, inVersion, "-eks-"},
	{gke, inVersion, "-gke."},
	{k3s, inVersion, "+k3s"},
	{rke2, inVersion, "+rke2"},
	{eks, inGroups, "metrics.eks.amazonaws.com"},
	{eks, inLabels, "eks.amazonaws.com/nodegroup"},
	{gke, inLabels, "cloud.google.com/gke-nodepool"},
	{aks, inLabels, "kubernetes.azure.com/cluster"},
	{minikube, inLabels, "minikube.k8s.io/name"},
	{kind, inProvider, "kind://"},
	{k3s, inProvider, "k3s://"},
	{eks, inKubelet, "-eks-"},
	{gke, inKubelet, "-gke."},
	{k3s, inKubelet, "+k3s"},
	{rke2, inKubelet, "+rke2"},
	{talos, inSystem, "Talos"},
	{eks, inHost, ".eks.amazonaws.com"},
	{aks, inHost, ".azmk8s.io"},
	{gke, inHost, ".gke.goog"},
}

// platform detects the platform of the API server at host.
func (e *examination) platform(host string) Platform {
	texts := map[string][]string{inVersion: {string(e.findings.Version)}, inGroups: e.groups, inHost: {hostOf(host)}}
	for _, n := range e.nodes {
		for label := range n.labels {
			texts[inLabels] = append(texts[inLabels], label)
		}
		texts[inProvider] = append(texts[inProvider], n.provider)
		texts[inKubelet] = append(texts[inKubelet], n.kubelet)
		texts[inSystem] = append(texts[inSystem], n.system)
	}
	for _, s := range signs {
		if slices.ContainsFunc(texts[s.in], func(text string) bool { return strings.Contains(text, s.substring) }) {
			return Platform{s.platform, s.in + " contains " + s.substring}
		}
	}
	if len(e.scheduler.Pods) > 0 {
		return Platform{kubeadm, "the scheduler pod has the labels that kubeadm sets"}
	}
	return Platform{}
}
