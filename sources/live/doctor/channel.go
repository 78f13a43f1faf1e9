package doctor

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/worth"
)

// Channel is a source of information about the scheduler.
type Channel struct {
	Name string `json:"name"`
	// State is "yes" if it is available, "no" if not, and "see how" if schedq can't check.
	State string `json:"state"`
	// Why is the reason, or a requirement.
	Why string `json:"why,omitempty"`
	// How lists the commands that use it.
	How []string `json:"how,omitempty"`
	// Adds says what it contributes.
	Adds string `json:"adds"`
}

// The states of a Channel.
const (
	Yes    = "yes"
	No     = "no"
	SeeHow = "see how"
)

// channels returns all channels of the cluster.
func (e *examination) channels(ctx context.Context) []Channel {
	g := guideOf(e.findings.Platform.Name)
	level, known := g.verbosity, g.verbosity > 0
	for _, pod := range e.scheduler.Pods {
		level, known = pod.Verbosity, true
	}
	saved := Channel{Name: "the scheduler's log, saved", State: SeeHow, Why: g.logNeeds, How: g.log, Adds: logAdds(level, known, g.savedLogUse())}
	audit := Channel{Name: "kube-apiserver's audit log", State: SeeHow, Why: g.auditNeeds, How: g.audit, Adds: g.auditAdds()}
	return []Channel{e.attach(), e.counts(ctx), e.followed(ctx, level), saved, audit}
}

// attach returns the channel of the API server.
func (e *examination) attach() Channel {
	c := Channel{Name: "the cluster, live", State: Yes, How: []string{"schedq attach"},
		Adds: "the current place of each pod: moves are modelled, and corrected by bindings, conditions and Events from the API"}
	if e.findings.Trouble != "" {
		c.State, c.Why = No, "the API server could not be queried"
	}
	for _, a := range e.findings.Kinds {
		if a.Kind == "pods" && a.State != Readable {
			c.State, c.Why = No, "pods are "+a.State+": request the ClusterRole in deploy/, or select a namespace with -n"
		}
	}
	return c
}

// counts returns the channel of the scheduler's metrics.
func (e *examination) counts(ctx context.Context) Channel {
	c := Channel{Name: "the scheduler's own counts", Adds: "its number of pods in each tier, every 2 seconds, next to the model's"}
	if e.findings.Platform.Name == eks {
		c.How = []string{"schedq attach --scheduler-metrics eks"}
		c.State, c.Why = e.may(ctx, authorizationv1.ResourceAttributes{Verb: "get", Group: "metrics.eks.amazonaws.com", Resource: "ksh", Subresource: "metrics", Name: "container"})
		return c
	}
	c.State, c.Why = e.pod(ctx, "proxy")
	if c.State == Yes {
		c.How, c.Why = []string{"schedq attach --scheduler-metrics proxy"}, "requires a --bind-address that the API server can reach, and a token"
	}
	return c
}

// followed returns the channel of the scheduler's log through the API server.
func (e *examination) followed(ctx context.Context, level int) Channel {
	c := Channel{Name: "the scheduler's log, live", Adds: logAdds(level, len(e.scheduler.Pods) > 0, ", which corrects the model")}
	if c.State, c.Why = e.pod(ctx, "log"); c.State == Yes {
		for _, pod := range e.scheduler.Pods {
			c.How = append(c.How, "schedq attach --scheduler-log pod:"+strings.TrimSuffix(pod.Namespace+"/"+pod.Name+"/"+pod.Container, "/"))
		}
		if len(c.How) > 1 {
			c.Why = "several schedulers are running; the leader is " + string(e.scheduler.Holder)
		}
	}
	return c
}

// pod checks access to a subresource of the scheduler's pod.
func (e *examination) pod(ctx context.Context, subresource string) (state, why string) {
	if e.findings.Trouble != "" {
		return No, "the API server could not be queried"
	}
	if len(e.scheduler.Pods) == 0 {
		return No, "no scheduler pod was found in the cluster"
	}
	first := e.scheduler.Pods[0]
	return e.may(ctx, authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Subresource: subresource, Namespace: first.Namespace, Name: first.Name})
}

// may checks whether the user has a permission.
func (e *examination) may(ctx context.Context, what authorizationv1.ResourceAttributes) (state, why string) {
	resource := strings.TrimSuffix(what.Resource+"/"+what.Subresource+" of "+what.Group, " of ")
	if e.findings.Trouble != "" {
		return SeeHow, "requires get on " + resource
	}
	allowed, err := e.source.May(ctx, what)
	switch {
	case err != nil:
		return SeeHow, fmt.Sprintf("requires get on %s; the access review failed", resource)
	case !allowed:
		return No, "you have no permission to get " + resource
	}
	return Yes, ""
}

// logAdds says what a scheduler log of a verbosity contributes. use qualifies the results of attempts.
func logAdds(level int, known bool, use string) string {
	attempts := "the result of every attempt" + use
	switch {
	case !known:
		return fmt.Sprintf("at -v=%d every move, observed; from -v=%d on %s", sources.MovesVerbosity, sources.AttemptsVerbosity, attempts)
	case level >= sources.MovesVerbosity:
		return fmt.Sprintf("it runs at -v=%d: every move, observed; nothing is modelled", level)
	case level >= sources.AttemptsVerbosity:
		return fmt.Sprintf("it runs at -v=%d: %s; -v=%d adds every move", level, attempts, sources.MovesVerbosity)
	}
	return fmt.Sprintf("it runs at -v=%d: attempts that failed with an error, and little else; -v=%d adds %s, -v=%d every move",
		level, sources.AttemptsVerbosity, attempts, sources.MovesVerbosity)
}

// savedLogUse qualifies the results of attempts in a log that is read with an audit log.
func (g guide) savedLogUse() string {
	accuracy := worth.Beside
	if g.fixed {
		accuracy = worth.BesideCloud
	}
	return " (with an audit log, " + accuracy + ")"
}
