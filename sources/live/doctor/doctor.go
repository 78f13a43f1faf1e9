// Package doctor checks which data sources a cluster offers: which objects the user may read, how the
// scheduler runs, which of its logs and metrics are available, and what each contributes.
//
// It only reads: at most one object of each kind that schedq watches, a few nodes and pods, and self
// access reviews. Missing or forbidden objects are reported, not fatal.
package doctor

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/live"
)

// Findings are the results for a cluster, as schedq doctor prints them.
type Findings struct {
	Cluster sources.SafeText `json:"cluster"`
	Server  sources.SafeText `json:"server"`
	// Trouble is the reason why the API server could not be queried, in one sentence. The rest then
	// contains only what is known without it.
	Trouble string `json:"trouble,omitempty"`
	// Version is the API server's version, such as v1.33.5-eks-3025e55.
	Version   sources.SafeText `json:"version,omitempty"`
	Platform  Platform         `json:"platform"`
	Scheduler Scheduler        `json:"scheduler"`
	Kinds     []Access         `json:"kinds,omitempty"`
	Channels  []Channel        `json:"channels"`
}

// Access says whether the user can read the objects of a kind.
type Access struct {
	Kind  string `json:"kind"`
	Group string `json:"group,omitempty"`
	// State is "readable", "forbidden", "not watchable", "not served" or "failing".
	State   string           `json:"state"`
	Trouble sources.SafeText `json:"trouble,omitempty"`
	// Without says what does not work without the kind; empty if it is readable.
	Without string `json:"without,omitempty"`
}

// The states of an Access.
const (
	Readable     = "readable"
	Forbidden    = "forbidden"
	NotWatchable = "not watchable"
	NotServed    = "not served"
	Failing      = "failing"
)

// timeout limits all requests together.
const timeout = 15 * time.Second

// Examine checks the cluster that source watches. host is the URL of its API server. Requests that
// fail or time out are reported in the findings.
func Examine(ctx context.Context, source *live.Source, host string) *Findings {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	f := &Findings{Cluster: source.Name(), Server: sources.Sanitize(host)}
	e := &examination{source: source, findings: f}
	if f.Trouble = e.version(ctx, host); f.Trouble == "" {
		var wg sync.WaitGroup
		f.Kinds = make([]Access, len(source.Kinds()))
		for i, kind := range source.Kinds() {
			wg.Go(func() { f.Kinds[i] = e.access(ctx, kind) })
		}
		wg.Go(func() { e.collect(ctx) })
		wg.Wait()
	}
	f.Platform = e.platform(host)
	f.Scheduler = e.scheduler
	f.Channels = e.channels(ctx)
	return f
}

// examination is the state of a running Examine.
type examination struct {
	source    *live.Source
	findings  *Findings
	scheduler Scheduler
	nodes     []node
	groups    []string
}

// version reads the API server's version. It returns why the server can't be queried, or "".
func (e *examination) version(ctx context.Context, host string) string {
	var version struct{ GitVersion sources.SafeText }
	err := e.get(ctx, "/version", &version)
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return live.Sentence(host, err).Error()
	}
	e.findings.Version = sources.Sanitize(string(version.GitVersion))
	return ""
}

// access checks whether a kind can be listed, by listing one object, and watched, by an access review.
func (e *examination) access(ctx context.Context, kind live.Kind) Access {
	a := Access{Kind: kind.Name, Group: kind.Group, State: Readable}
	_, err := e.source.Get(ctx, kind.One)
	switch {
	case apierrors.IsForbidden(err):
		a.State = Forbidden
	case apierrors.IsNotFound(err):
		a.State = NotServed
	case err != nil:
		a.State, a.Trouble = Failing, sources.Sanitize(live.Sentence("", err).Error())
	default:
		watch := kind.Attributes
		watch.Verb = "watch"
		if may, err := e.source.May(ctx, watch); err == nil && !may {
			a.State = NotWatchable
		}
	}
	if a.State != Readable {
		a.Without = kind.Without
	}
	return a
}

// hostOf returns the host name in the API server's URL.
func hostOf(server string) string {
	if u, err := url.Parse(server); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return server
}

var errUnexpectedJSON = errors.New("the API server returned unexpected JSON")
