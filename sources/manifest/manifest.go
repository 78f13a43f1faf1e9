// Package manifest reads Kubernetes manifests, what `kubectl apply` takes, into the objects that a
// kube-scheduler would come to see of them: with the API server's defaults, and with the pods and the
// claims that the controllers would make. What a scheduler never reads is dropped.
package manifest

import (
	"context"
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
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

// Parse is Read of a file's content. An error is one sentence with the file's name and, but for errors
// about the file as a whole, the line: what is not YAML, an unknown field, a wrong type, a pod that the
// API server would refuse, more than 10,000 pods, or nothing that a scheduler sees.
func Parse(name string, data []byte) (*Manifest, error) {
	name = string(sources.Sanitize(name))
	docs, err := split(name, data)
	if err != nil {
		return nil, err
	}
	r := &reader{seen: map[object]int{}, claimTemplates: map[types.NamespacedName]*resourcev1.ResourceClaimTemplate{}}
	var all []located
	for _, d := range docs {
		items, err := d.items()
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			obj, err := item.decode()
			if err != nil {
				return nil, err
			}
			if obj == nil {
				r.out.Skipped = append(r.out.Skipped, item.title())
				continue
			}
			all = append(all, located{item, obj})
			r.learn(obj)
		}
	}
	for _, o := range all {
		if err := r.add(o.doc, o.obj); err != nil {
			return nil, err
		}
	}
	if len(r.out.Objects) == 0 {
		return nil, r.nothing(name)
	}
	return &r.out, nil
}

// located is an object and where it stands.
type located struct {
	doc *document
	obj runtime.Object
}

// reader makes objects of what the file says.
type reader struct {
	out         Manifest
	pods, parts int
	generated   int            // names, of objects that the file holds
	seen        map[object]int // and the line
	// claimTemplates and defaultClass are what other objects of the file refer to, maybe from above.
	claimTemplates map[types.NamespacedName]*resourcev1.ResourceClaimTemplate
	defaultClass   string
}

type object struct{ kind, namespace, name string }

// nothing is the error about a file that gives no object.
func (r *reader) nothing(name string) error {
	switch {
	case len(r.out.Notices) > 0:
		return errors.New(r.out.Notices[0])
	case len(r.out.Skipped) > 1:
		return fmt.Errorf("%s holds nothing that kube-scheduler watches, only %s and %d more", name, r.out.Skipped[0], len(r.out.Skipped)-1)
	case len(r.out.Skipped) > 0:
		return fmt.Errorf("%s holds nothing that kube-scheduler watches, only %s", name, r.out.Skipped[0])
	}
	return fmt.Errorf("%s holds no object", name)
}

// spend counts parts that the controllers make, and pods.
func (r *reader) spend(d *document, pods, parts int) error {
	r.pods += pods
	r.parts += parts
	if r.pods > maxPods {
		return d.errorf("", "with %s the file makes more than %d pods", d.title(), maxPods)
	}
	if r.parts > maxParts {
		return d.errorf("", "with %s the file makes more than %d objects, labels and volumes", d.title(), maxParts)
	}
	return nil
}

// notice adds a sentence about what is left out.
func (r *reader) notice(d *document, format string, args ...any) {
	r.out.Notices = append(r.out.Notices, d.errorf("", format, args...).Error())
}
