package live

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind is a kind of objects that a source watches.
type Kind struct {
	Group, Name string
	// Without says what does not work if the kind can't be read.
	Without string
	// One is the path of a list of one object of the kind.
	One string
	// Attributes are what an access review asks about to watch it; the verb is not among them.
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

// Get returns what the API server answers at a path, as JSON where it has a choice. It is asked once.
func (s *Source) Get(ctx context.Context, path string) ([]byte, error) {
	return s.client.CoreV1().RESTClient().Get().RequestURI(path).SetHeader("Accept", "application/json").MaxRetries(0).Do(ctx).Raw()
}

// May asks the API server whether the user may do something.
func (s *Source) May(ctx context.Context, what authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}
	answer, err := s.client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	return err == nil && answer.Status.Allowed, err
}
