// Package doctor examines a cluster for schedq: what of it may be read, what runs its scheduler, which of the scheduler's
// words and which logs can be had there and how, and what each would add.
//
// It only reads: lists of at most one object of each kind that schedq watches, of a few nodes and pods, and reviews of
// one's own access. Nothing that is missing or forbidden ends it: each is a sentence of the findings.
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

// Findings are what was found out about a cluster, as schedq doctor prints it.
type Findings struct {
	Cluster sources.SafeText `json:"cluster"`
	Server  sources.SafeText `json:"server"`
	// Trouble is why the API server could not be asked, one sentence. What follows then says only what holds anyhow.
	Trouble string `json:"trouble,omitempty"`
	// Version is the API server's, such as v1.33.5-eks-3025e55.
	Version   sources.SafeText `json:"version,omitempty"`
	Platform  Platform         `json:"platform"`
	Scheduler Scheduler        `json:"scheduler"`
	Kinds     []Access         `json:"kinds,omitempty"`
	Channels  []Channel        `json:"channels"`
}

// Access is whether objects of a kind may be read.
type Access struct {
	Kind  string `json:"kind"`
	Group string `json:"group,omitempty"`
	// State is "readable", "forbidden", "not watchable", "not served" or "failing".
	State   string           `json:"state"`
	Trouble sources.SafeText `json:"trouble,omitempty"`
	// Without says what does not work without it; empty if it is readable.
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

// within is how long all of the answers may take together.
const within = 15 * time.Second

// Examine finds out about the cluster that source watches, by name and the URL of its API server. Only the end of
// ctx ends it early; what was not answered by then is a sentence of the findings.
func Examine(ctx context.Context, source *live.Source, host string) *Findings {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	f := &Findings{Cluster: source.Name(), Server: sources.Sanitize(host)}
	e := &examination{source: source, findings: f}
	if f.Trouble = e.version(ctx, host); f.Trouble == "" {
		var wg sync.WaitGroup
		f.Kinds = make([]Access, len(source.Kinds()))
		for i, kind := range source.Kinds() {
			wg.Go(func() { f.Kinds[i] = e.access(ctx, kind) })
		}
		wg.Go(func() { e.look(ctx) })
		wg.Wait()
	}
	f.Platform = e.platform(host)
	f.Scheduler = e.scheduler
	f.Channels = e.channels(ctx)
	return f
}

// examination is one that is under way.
type examination struct {
	source    *live.Source
	findings  *Findings
	scheduler Scheduler
	nodes     []node
	groups    []string
}

// version asks the API server which it is. It returns why nothing more can be asked, or nothing.
func (e *examination) version(ctx context.Context, host string) string {
	var version struct{ GitVersion sources.SafeText }
	err := e.get(ctx, "/version", &version)
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return live.Sentence(host, err).Error()
	}
	e.findings.Version = sources.Sanitize(string(version.GitVersion))
	return ""
}

// access finds whether objects of a kind may be listed, by a list of one of them, and watched, by asking.
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

// hostOf is the name in an API server's URL.
func hostOf(server string) string {
	if u, err := url.Parse(server); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return server
}

// errAnswer is returned for what can't be what was asked for.
var errAnswer = errors.New("the API server's answer is no JSON of that kind")
