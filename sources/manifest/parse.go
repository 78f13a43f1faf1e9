package manifest

import (
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Parse is Read of a file's content. An error is one sentence with the file's name and, unless it is about the whole file,
// the line: invalid YAML, an unknown field, a wrong type, a pod that the API server would refuse, more than 10,000 pods, or
// no object that affects scheduling.
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

// located is an object and its position.
type located struct {
	doc *document
	obj runtime.Object
}

// reader converts the documents of a file to objects.
type reader struct {
	out         Manifest
	pods, parts int
	generated   int            // names, of objects that the file holds
	seen        map[object]int // and the line
	// claimTemplates and defaultClass may be referred to by any object of the file, including earlier ones.
	claimTemplates map[types.NamespacedName]*resourcev1.ResourceClaimTemplate
	defaultClass   string
}

type object struct{ kind, namespace, name string }

// nothing returns the error about a file without objects.
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

// spend counts parts that controllers create, and pods.
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

// notice adds a sentence about a skipped object.
func (r *reader) notice(d *document, format string, args ...any) {
	r.out.Notices = append(r.out.Notices, d.errorf("", format, args...).Error())
}
