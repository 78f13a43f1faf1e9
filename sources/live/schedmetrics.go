package live

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
)

// Metrics is a stream of a scheduler's pod counts, read from its metrics every few seconds.
type Metrics struct {
	get func(context.Context) (io.ReadCloser, error)

	mu      sync.Mutex
	pending []sources.Event
	trouble string
}

// scrapeEvery is how often metrics are read, scrapeWithin the timeout.
const (
	scrapeEvery  = 2 * time.Second
	scrapeWithin = 5 * time.Second
)

// maxScrape limits the size of a response, in bytes. A scheduler's metrics have some hundred KiB.
const maxScrape = 16 << 20

// maxToken limits the size of a bearer token file, in bytes.
const maxToken = 64 << 10

// MetricsOptions define how a scheduler's metrics are read directly.
type MetricsOptions struct {
	// TokenFile holds a bearer token. It is sent only over TLS.
	TokenFile string
	// Insecure accepts any certificate, such as a self-signed one.
	Insecure bool
}

// NewMetrics returns a stream of the metrics that a scheduler serves at a URL.
func NewMetrics(address string, opts MetricsOptions) (*Metrics, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s is not the URL of a scheduler's metrics: https://HOST:10259/metrics", sources.Sanitize(address))
	}
	if u.Path == "" {
		u.Path = "/metrics"
	}
	if opts.TokenFile != "" && u.Scheme != "https" {
		return nil, fmt.Errorf("a token is sent over https only, and %s is not", sources.Sanitize(address))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: opts.Insecure} // as the user requests
	client := &http.Client{Transport: readOnly{transport, &answers{largest: maxScrape}}}
	return &Metrics{get: func(ctx context.Context) (io.ReadCloser, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, err
		}
		if opts.TokenFile != "" {
			token, err := disk.Read(ctx, opts.TokenFile, maxToken)
			if err != nil {
				return nil, err
			}
			req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		}
		answer, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		if answer.StatusCode != http.StatusOK {
			answer.Body.Close()
			return nil, fmt.Errorf("it answers %s", answer.Status)
		}
		return answer.Body, nil
	}}, nil
}

// ProxiedMetrics returns a stream of the metrics of a scheduler that runs as a pod, read through the API server's pod
// proxy. Few clusters allow that.
func (s *Source) ProxiedMetrics() *Metrics {
	return &Metrics{get: func(ctx context.Context) (io.ReadCloser, error) {
		pod, err := s.schedulerPod()
		if err != nil {
			return nil, err
		}
		return s.client.core().Get().Namespace(pod.Namespace).Resource(pods).
			SubResource("proxy").Name("https:"+pod.Name+":10259").Suffix("metrics").SetHeader("Accept", acceptText).MaxRetries(0).Stream(ctx)
	}}
}

// eksMetrics is where EKS serves its scheduler's metrics, through the API server, from v1.28 on (the EKS user guide, "Fetch
// control plane raw metrics in Prometheus format"). It needs get on ksh/metrics of the group metrics.eks.amazonaws.com.
const eksMetrics = "/apis/metrics.eks.amazonaws.com/v1/ksh/container/metrics"

// EKSMetrics returns a stream of the scheduler metrics that EKS serves.
func (s *Source) EKSMetrics() *Metrics {
	return &Metrics{get: func(ctx context.Context) (io.ReadCloser, error) {
		body, err := s.client.core().Get().AbsPath(eksMetrics).SetHeader("Accept", acceptText).MaxRetries(0).Stream(ctx)
		switch {
		case apierrors.IsNotFound(err):
			return nil, fmt.Errorf("the API server has no %s: EKS alone serves it, from v1.28 on", eksMetrics)
		case apierrors.IsForbidden(err):
			return nil, fmt.Errorf("you may not get ksh/metrics of metrics.eks.amazonaws.com: ask for a ClusterRole that lets you")
		}
		return body, err
	}}
}

// Name implements sources.Stream.
func (m *Metrics) Name() sources.SafeText { return "the scheduler's metrics" }

// Run implements sources.Stream.
func (m *Metrics) Run(ctx context.Context) error {
	tick := time.NewTicker(scrapeEvery)
	defer tick.Stop()
	retries := newRetries()
	for {
		err := m.scrape(retries.noting(ctx))
		m.mu.Lock()
		switch {
		case ctx.Err() != nil:
			m.mu.Unlock()
			return nil
		case err == nil:
			m.trouble = ""
		case m.trouble == "":
			m.trouble = fmt.Sprintf("The scheduler's metrics can't be read: %s.", sources.Sanitize(err.Error()))
		}
		m.mu.Unlock()
		if err != nil {
			retries.note(err)
			retries.backOff(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Take implements sources.Stream.
func (m *Metrics) Take() ([]sources.Event, sources.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	events := m.pending
	m.pending = nil
	var status sources.Status
	if m.trouble != "" {
		status.Notices = []string{m.trouble}
	}
	return events, status
}

func (m *Metrics) scrape(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, scrapeWithin)
	defer cancel()
	body, err := m.get(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(body, maxScrape))
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	counts, err := pendingPods(families["scheduler_pending_pods"])
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = append(m.pending, sources.Event{Time: now, Fact: counts})
	return nil
}

// pendingPods reads the gauge scheduler_pending_pods by its label queue.
func pendingPods(family *dto.MetricFamily) (*sources.Counts, error) {
	if family == nil {
		return nil, fmt.Errorf("scheduler_pending_pods is not among them: are they a scheduler's?")
	}
	counts := &sources.Counts{}
	of := map[string]*int{"active": &counts.Active, "backoff": &counts.Backoff, "unschedulable": &counts.Unschedulable, "gated": &counts.Gated}
	for _, metric := range family.Metric {
		value := metric.GetGauge().GetValue()
		for _, label := range metric.Label {
			if to := of[label.GetValue()]; label.GetName() == "queue" && to != nil && value >= 0 && value < 1e9 {
				*to = int(value)
			}
		}
	}
	return counts, nil
}
