package live

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/sources"
)

// Kind is a kind of objects that a source watches.
type Kind struct {
	Group, Name string
	// Without describes what does not work if the kind can't be read.
	Without string
	// One is the path of a list of one object of the kind.
	One string
	// Attributes are those of an access review for watching it, without the verb.
	Attributes authorizationv1.ResourceAttributes
}

// Kinds returns what the source watches.
func (s *Source) Kinds() []Kind {
	var kinds []Kind
	for _, st := range s.stores {
		r := st.kind
		version := r.client.APIVersion()
		k := Kind{Group: version.Group, Name: r.name, Without: r.without, One: "/apis/" + version.String(),
			Attributes: authorizationv1.ResourceAttributes{Group: version.Group, Resource: r.name, Namespace: r.namespace}}
		if k.Group == "" {
			k.One = "/api/" + version.Version
		}
		if r.namespace != "" {
			k.One += "/namespaces/" + r.namespace
		}
		k.One += "/" + r.name + "?limit=1"
		if r.name == leases { // a role may allow this one alone
			k.One += "&fieldSelector=metadata.name%3D" + s.lease.name
			k.Attributes.Name = s.lease.name
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// Get returns the API server's response at a path, as JSON if it has a choice. It sends one request.
func (s *Source) Get(ctx context.Context, path string) ([]byte, error) {
	return s.client.core().Get().RequestURI(path).SetHeader("Accept", "application/json").MaxRetries(0).Do(ctx).Raw()
}

// Names returns the names of at most that many objects of a list, in the API server's order. path is the path of
// the list with its query. Objects whose names are not safe to show are skipped.
func (s *Source) Names(ctx context.Context, path string, most int) ([]types.NamespacedName, error) {
	// Names are in the metadata; the rest of the objects need not be sent.
	const metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	raw, err := s.client.core().Get().RequestURI(path).Param("limit", strconv.Itoa(most)).SetHeader("Accept", metadata).MaxRetries(0).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Metadata struct{ Namespace, Name string }
		}
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("the list of names can't be read: %w", err)
	}
	var names []types.NamespacedName
	for _, item := range list.Items[:min(len(list.Items), most)] {
		name := types.NamespacedName{Namespace: item.Metadata.Namespace, Name: item.Metadata.Name}
		if name.Name != "" && string(sources.Sanitize(name.Namespace)) == name.Namespace && string(sources.Sanitize(name.Name)) == name.Name {
			names = append(names, name)
		}
	}
	return names, nil
}

// May asks the API server whether the user may do something.
func (s *Source) May(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}
	answer := &authorizationv1.SelfSubjectAccessReview{}
	err := s.client[authorizationv1.SchemeGroupVersion].Post().Resource("selfsubjectaccessreviews").Body(review).Do(ctx).Into(answer)
	return err == nil && answer.Status.Allowed, err
}
