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

// ErrForbidden is what Check's error is if the user may not read pods.
var ErrForbidden = errors.New("you may not")

// Login gets the user's credentials where a plugin of the kubeconfig has to be run for them, for as long as that
// takes, and tells say what the plugin says meanwhile. Until it has ended, the plugin may use the terminal.
func (s *Source) Login(ctx context.Context, say func(sentence string)) error {
	if s.plugin == nil {
		return nil
	}
	s.tellsPlugin(say)
	defer s.tellsPlugin(nil)
	err := s.plugin.login(ctx, s.speak)
	switch {
	case ctx.Err() == nil && err != nil:
		return fmt.Errorf("the credential plugin of the kubeconfig failed: %s; see the user's exec there", sources.Sanitize(err.Error()))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("the time is over, and the credential plugin %s of the kubeconfig has not answered", s.plugin.name)
	}
	return ctx.Err()
}

// tellsPlugin has say be told what the plugin says, or have it be a notice if say is nil.
func (s *Source) tellsPlugin(say func(sentence string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spoken = say
}

// speak tells a sentence, as long as the credential plugin may use the terminal.
func (s *Source) speak(sentence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spoken != nil {
		s.spoken(sentence)
	}
}

// maxSpoken is how many notices there are of what the credential plugin says.
const maxSpoken = 20

// pluginSays tells what the credential plugin says.
func (s *Source) pluginSays(line sources.SafeText) {
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

// Check finds out what can be known before anything is watched: whether the API server is there, takes the
// user's credentials, and lets the user read pods. An error is one sentence that says what to do.
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
			return nil // whether the user may read pods will show
		case err != nil:
			return Sentence(host, err)
		case !allowed:
			return s.forbidden(ctx, verb)
		}
	}
	s.findLease(ctx)
	return nil
}

// usualLeases are the namespaces of the lease that the schedulers' leader holds: upstream's, and OpenShift's
// (cluster-kube-scheduler-operator, bindata/assets/config/defaultconfig.yaml).
var usualLeases = [...]string{"kube-system", "openshift-kube-scheduler"}

// findLease looks for the scheduler's lease where nobody said where it is. What can't be read is left as it is: the watch
// of it tells.
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

// forbidden says that the user may not read pods, in the API server's own words, which name the user.
func (s *Source) forbidden(ctx context.Context, verb string) error {
	what := "all namespaces, which the queue is made of: ask for the ClusterRole in deploy/, or name a namespace with -n"
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

// Sentence says in one sentence what went wrong with a request to host, and what to do about it.
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
	if errors.As(inner, &op) && op.Source != nil { // its port is another each time, and so would be the sentence
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
