// Package manifest reads Kubernetes manifests, what `kubectl apply` takes, into the objects that a
// kube-scheduler would come to see of them: with the API server's defaults, and with the pods and the
// claims that the controllers would make. What a scheduler never reads is dropped.
package manifest

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedq/schedq/sources/disk"
)

// Bounds of one file. The API server takes 3 MiB in a request, and Kubernetes 150,000 pods in a cluster.
const (
	maxFile  = 4 << 20 // bytes
	maxSplit = 400_000 // line ends and commas: they bound what a parser makes of it
	maxPods  = 10_000
	// maxParts is how many objects, labels and volumes the controllers may make of a file: a template
	// of a megabyte, 10,000 times, is no workload.
	maxParts = 500_000
)

// BindCompleted is what the volume controller writes on a claim that it bound.
const BindCompleted = "pv.kubernetes.io/bind-completed"

// Manifest is what one file holds.
type Manifest struct {
	// Objects are trimmed (see sources.Trim), defaulted and in the order of the file: never empty. An
	// owner comes before its pods, and a pod's claims come before the pod. They have no resourceVersion
	// and no creationTimestamp, their uids and generated names depend on nothing but the file, and pods
	// may share parts. Pods have no priority yet: see ResolvePriority.
	Objects []runtime.Object
	// Skipped are the objects that a scheduler never sees, such as "ConfigMap web".
	Skipped []string
	// Notices are sentences, with the file and the line, about objects that a scheduler would see
	// something of that cannot be known here: a DaemonSet's pods, a CronJob's.
	Notices []string
}

// Read reads the manifests in the file at path: YAML or JSON, one document or several, at most 4 MiB.
// Errors are as Parse's, or the context's if that ends while the file is waited for. There is no "-": a screen
// reads keys from standard input.
func Read(ctx context.Context, path string) (*Manifest, error) {
	if path == "-" {
		return nil, fmt.Errorf("manifests cannot be read from standard input: name a file")
	}
	data, err := disk.Read(ctx, path, maxFile)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}
