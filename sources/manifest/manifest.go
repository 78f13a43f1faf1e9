// Package manifest converts Kubernetes manifests, as for `kubectl apply`, to the objects that a kube-scheduler would
// receive: with the API server's defaults, and with the pods and claims that controllers would create. It drops fields
// that a scheduler does not read.
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
	// maxParts limits the objects, labels and volumes that controllers create from a file: 10,000 copies of a template of a
	// megabyte are not a realistic workload.
	maxParts = 500_000
)

// BindCompleted is the annotation that the volume controller adds to a claim that it bound.
const BindCompleted = "pv.kubernetes.io/bind-completed"

// Manifest is the content of a file.
type Manifest struct {
	// Objects are trimmed (see sources.Trim), defaulted and in the order of the file. There is at least one. An owner
	// precedes its pods, and a pod's claims precede the pod. Objects have no resourceVersion and no creationTimestamp. Their
	// UIDs and generated names depend only on the file. Pods may share parts, and have no priority yet: see ResolvePriority.
	Objects []runtime.Object
	// Skipped are the objects that don't affect scheduling, such as "ConfigMap web".
	Skipped []string
	// Notices are sentences, with the file and the line, about objects whose pods are unknown: those of a DaemonSet or a
	// CronJob.
	Notices []string
}

// Read reads the manifests in the file at path: YAML or JSON, one document or several, at most 4 MiB.
// Errors are those of Parse, or the context's if that ends while Read waits for the file. "-" is not supported, because a
// screen reads keys from standard input.
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
