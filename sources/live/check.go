package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/schedq/schedq/sources"
)

// checkWithin is how long the API server has to answer the first requests.
const checkWithin = 10 * time.Second

// ErrForbidden is the error of Check if the user may not read pods.
var ErrForbidden = errors.New("you may not")

// Login runs the credential plugin of the kubeconfig, if there is one, and passes its output to say. The plugin may
// use the terminal until Login returns.
func (s *Source) Login(ctx context.Context, say func(sentence string)) error {
	if s.plugin == nil {
		return nil
	}
	s.setPluginOutput(say)
	defer s.setPluginOutput(nil)
	err := s.plugin.login(ctx, s.notify)
	switch {
	case ctx.Err() == nil && err != nil:
		return fmt.Errorf("the credential plugin of the kubeconfig failed: %s; see the user's exec there", sources.Sanitize(err.Error()))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("timed out waiting for the credential plugin %s of the kubeconfig", s.plugin.name)
	}
	return ctx.Err()
}

// setPluginOutput passes the plugin's output to say, or makes it notices if say is nil.
func (s *Source) setPluginOutput(say func(sentence string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spoken = say
}

// notify passes a sentence to the user, as long as the credential plugin may use the terminal.
func (s *Source) notify(sentence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spoken != nil {
		s.spoken(sentence)
	}
}

// maxSpoken limits the notices of the credential plugin's output.
const maxSpoken = 20

// onPluginOutput handles a line of the credential plugin's output.
func (s *Source) onPluginOutput(line sources.SafeText) {
	sentence := fmt.Sprintf("the credential plugin %s says: %s", s.plugin.name, line)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.spoken != nil:
		s.spoken(sentence)
	case len(s.said) < maxSpoken && !slices.Contains(s.said, sentence):
		s.said = append(s.said, sentence)
	}
}

// Check finds out, before anything is watched, whether the API server responds, accepts the user's credentials and
// allows reading pods. An error is one sentence that states what to do.
func (s *Source) Check(ctx context.Context, host string) error {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	if _, err := s.version(ctx); err != nil && !apierrors.IsForbidden(err) {
		return Sentence(host, err)
	}
	for _, verb := range []string{"list", "watch"} {
		allowed, err := s.May(ctx, authorizationv1.ResourceAttributes{Namespace: s.opts.Namespace, Verb: verb, Resource: pods})
		switch {
		case err != nil && (apierrors.IsForbidden(err) || apierrors.IsNotFound(err)):
			return nil // the watch shows whether the user may read pods
		case err != nil:
			return Sentence(host, err)
		case !allowed:
			return s.forbidden(ctx, verb)
		}
	}
	s.findLease(ctx)
	return nil
}

// usualLeases are the usual namespaces of the scheduler's leader election lease: upstream's, and OpenShift's
// (cluster-kube-scheduler-operator, bindata/assets/config/defaultconfig.yaml).
var usualLeases = [...]string{"kube-system", "openshift-kube-scheduler"}

// findLease finds the scheduler's lease if the options don't specify it. Errors are ignored: the watch of the lease
// reports them.
func (s *Source) findLease(ctx context.Context) {
	if s.opts.LeaseNamespace != "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, OverdueAfter)
	defer cancel()
	for _, namespace := range usualLeases {
		var found coordinationv1.LeaseList
		err := s.client[coordinationv1.SchemeGroupVersion].Get().Namespace(namespace).Resource(leases).
			Param("fieldSelector", "metadata.name="+s.lease.name).Param("limit", "1").MaxRetries(0).Do(ctx).Into(&found)
		if err == nil && len(found.Items) > 0 {
			s.lease.namespace, s.store(leases).kind.namespace = namespace, namespace
			return
		}
	}
}

// forbidden returns the error for a user who may not read pods, with the API server's message, which names the user.
func (s *Source) forbidden(ctx context.Context, verb string) error {
	what := "all namespaces: ask for the ClusterRole in deploy/, or name a namespace with -n"
	if s.opts.Namespace != "" {
		what = fmt.Sprintf("namespace %s: ask for a Role that lets you", sources.Sanitize(s.opts.Namespace))
	}
	err := fmt.Errorf("%w %s pods in %s", ErrForbidden, verb, what)
	refused := s.client.core().Get().Namespace(s.opts.Namespace).Resource(pods).Param("limit", "1").Do(ctx).Error()
	if apierrors.IsForbidden(refused) {
		err = fmt.Errorf("%w (%s)", err, sources.Sanitize(refused.Error()))
	}
	return err
}

// Sentence describes in one sentence why a request to host failed, and what to do.
func Sentence(host string, err error) error {
	at := "the API server"
	if host != "" {
		at += " " + string(sources.Sanitize(host))
	}
	var certificate *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var wrongName x509.HostnameError
	var netErr net.Error
	var urlErr *url.Error
	var op *net.OpError
	inner := err
	if errors.As(err, &urlErr) {
		inner = urlErr.Err
	}
	if errors.As(inner, &op) && op.Source != nil { // its port would make each sentence different
		at := *op
		at.Source = nil
		inner = &at
	}
	said := sources.Sanitize(strings.ReplaceAll(inner.Error(), "\n", " "))
	var large tooLarge
	switch {
	case errors.As(err, &large):
		return fmt.Errorf("%s: %w", at, large)
	case errors.As(err, &certificate), errors.As(err, &unknown), errors.As(err, &wrongName):
		return fmt.Errorf("the certificate of %s can't be verified: %s; check certificate-authority in the kubeconfig", at, said)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s does not take your credentials (401): log in again, or check the user in the kubeconfig", at)
	case strings.Contains(string(said), "getting credentials"):
		return fmt.Errorf("the credential plugin of the kubeconfig failed: %s", said)
	case errors.As(err, &op) && op.Op == "dial", errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return fmt.Errorf("%s can't be reached: %s; check the server in the kubeconfig, and the network", at, said)
	}
	return fmt.Errorf("%s: %s", at, said)
}
