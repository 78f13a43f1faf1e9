package doctor

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/schedq/schedq/sources"
)

// Channel is a way by which schedq can hear of the scheduler.
type Channel struct {
	Name string `json:"name"`
	// State is "yes" if it can be had as things are, "no" if not, and "see how" if only whoever runs it can tell.
	State string `json:"state"`
	// Why says why not, or what must be so.
	Why string `json:"why,omitempty"`
	// How are the commands that get it, one a line.
	How []string `json:"how,omitempty"`
	// Adds says what it is worth.
	Adds string `json:"adds"`
}

// The states of a Channel.
const (
	Yes    = "yes"
	No     = "no"
	SeeHow = "see how"
)

// channels says of each way whether it can be had here, and how.
func (e *examination) channels(ctx context.Context) []Channel {
	g := guideOf(e.findings.Platform.Name)
	level, known := g.verbosity, g.verbosity > 0
	for _, pod := range e.scheduler.Pods {
		level, known = pod.Verbosity, true
	}
	saved := Channel{Name: "the scheduler's log, saved", State: SeeHow, Why: g.logNeeds, How: g.log, Adds: g.logAdds(level, known)}
	audit := Channel{Name: "kube-apiserver's audit log", State: SeeHow, Why: g.auditNeeds, How: g.audit, Adds: g.auditAdds()}
	return []Channel{e.attach(), e.counts(ctx), e.followed(ctx, level), saved, audit}
}

// attach is the API server itself.
func (e *examination) attach() Channel {
	c := Channel{Name: "the cluster, live", State: Yes, How: []string{"schedq attach"},
		Adds: "where each pod is, now: moves are modelled, and corrected by the bindings, conditions and Events that the API shows"}
	if e.findings.Trouble != "" {
		c.State, c.Why = No, "the API server can't be asked"
	}
	for _, a := range e.findings.Kinds {
		if a.Kind == "pods" && a.State != Readable {
			c.State, c.Why = No, "pods are "+a.State+": ask for the ClusterRole in deploy/, or name a namespace with -n"
		}
	}
	return c
}

// counts are the scheduler's metrics.
func (e *examination) counts(ctx context.Context) Channel {
	c := Channel{Name: "the scheduler's own counts", Adds: "how many pods it has in each tier, every 2 seconds, beside the model's"}
	if e.findings.Platform.Name == eks {
		c.How = []string{"schedq attach --scheduler-metrics eks"}
		c.State, c.Why = e.may(ctx, authorizationv1.ResourceAttributes{Verb: "get", Group: "metrics.eks.amazonaws.com", Resource: "ksh", Subresource: "metrics", Name: "container"})
		return c
	}
	c.State, c.Why = e.pod(ctx, "proxy")
	if c.State == Yes {
		c.How, c.Why = []string{"schedq attach --scheduler-metrics proxy"}, "if the scheduler answers: it takes requests from elsewhere only if --bind-address lets it, and wants a token"
	}
	return c
}

// followed is the scheduler's log through the API server.
func (e *examination) followed(ctx context.Context, level int) Channel {
	c := Channel{Name: "the scheduler's log, live", Adds: followedAdds(level, len(e.scheduler.Pods) > 0)}
	if c.State, c.Why = e.pod(ctx, "log"); c.State == Yes {
		for _, pod := range e.scheduler.Pods {
			c.How = append(c.How, "schedq attach --scheduler-log pod:"+strings.TrimSuffix(pod.Namespace+"/"+pod.Name+"/"+pod.Container, "/"))
		}
		if len(c.How) > 1 {
			c.Why = "of several schedulers one leads: " + string(e.scheduler.Holder)
		}
	}
	return c
}

// pod says whether a subresource of a scheduler's pod may be read.
func (e *examination) pod(ctx context.Context, subresource string) (state, why string) {
	if e.findings.Trouble != "" {
		return No, "the API server can't be asked"
	}
	if len(e.scheduler.Pods) == 0 {
		return No, "no pod of the cluster is seen to run the scheduler"
	}
	first := e.scheduler.Pods[0]
	return e.may(ctx, authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Subresource: subresource, Namespace: first.Namespace, Name: first.Name})
}

// may says whether the user may do something.
func (e *examination) may(ctx context.Context, what authorizationv1.ResourceAttributes) (state, why string) {
	resource := strings.TrimSuffix(what.Resource+"/"+what.Subresource+" of "+what.Group, " of ")
	if e.findings.Trouble != "" {
		return SeeHow, "it needs get on " + resource
	}
	allowed, err := e.source.May(ctx, what)
	switch {
	case err != nil:
		return SeeHow, fmt.Sprintf("it needs get on %s, and whether you may was not answered", resource)
	case !allowed:
		return No, "you may not get " + resource
	}
	return Yes, ""
}

// followedAdds says what a scheduler's log of that verbosity is worth while it is written.
func followedAdds(level int, known bool) string {
	switch {
	case !known:
		return fmt.Sprintf("at -v=%d each move, observed; from -v=%d on how every attempt ended, which corrects the model", sources.MovesVerbosity, sources.AttemptsVerbosity)
	case level >= sources.MovesVerbosity:
		return fmt.Sprintf("it is at -v=%d: each move, observed, and nothing is modelled", level)
	case level >= sources.AttemptsVerbosity:
		return fmt.Sprintf("it is at -v=%d: how every attempt ended, which corrects the model; at -v=%d it would tell each move", level, sources.MovesVerbosity)
	}
	return fmt.Sprintf("it is at -v=%d: attempts that failed by an error, and little else; from -v=%d on it tells how every attempt ended, at -v=%d each move",
		level, sources.AttemptsVerbosity, sources.MovesVerbosity)
}

// logAdds says what a scheduler's log of that verbosity is worth.
func (g guide) logAdds(level int, known bool) string {
	below := "beside an audit log, " + sources.WorthWithLog
	if g.fixed {
		below = "beside an audit log, " + sources.WorthOfCloudWithLog
	}
	switch {
	case !known:
		return fmt.Sprintf("at -v=%d each move, observed; from -v=%d on how every attempt ended (%s)", sources.MovesVerbosity, sources.AttemptsVerbosity, below)
	case level >= sources.MovesVerbosity:
		return fmt.Sprintf("it is at -v=%d: each move, observed, and nothing is modelled", level)
	case level >= sources.AttemptsVerbosity:
		return fmt.Sprintf("it is at -v=%d: how every attempt ended (%s); at -v=%d it would tell each move", level, below, sources.MovesVerbosity)
	}
	return fmt.Sprintf("it is at -v=%d: attempts that failed by an error, and little else; from -v=%d on it tells how every attempt ended (%s), at -v=%d each move",
		level, sources.AttemptsVerbosity, below, sources.MovesVerbosity)
}
