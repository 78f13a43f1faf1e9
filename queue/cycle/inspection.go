package cycle

import (
	"slices"
	"time"

	"github.com/schedq/schedq/sources"
)

// Inspection is one scheduling cycle, extension point by extension point. It is never modified. Its field names in
// JSON are stable: see docs/reference/outputs.md.
type Inspection struct {
	// Profile is the name of the pod's profile.
	Profile sources.SafeText `json:"profile"`
	// Node is the node that the cycle chooses, empty if the pod fits nowhere. Ties are all nodes with the highest score,
	// if they are several: kube-scheduler takes any of them.
	Node sources.SafeText   `json:"node,omitempty"`
	Ties []sources.SafeText `json:"ties,omitempty"`
	// Message is the scheduler's message if the pod fits nowhere, with the result of PostFilter.
	Message sources.SafeText `json:"message,omitempty"`
	// Error says why the cycle ended early, for instance because an extender did not answer.
	Error sources.SafeText `json:"error,omitempty"`

	// PreFilter are the PreFilter plugins in their order, until one ended the cycle.
	PreFilter []PluginResult `json:"preFilter"`
	Filter    Search         `json:"filter"`
	// PostFilter is nil unless the pod fits nowhere.
	PostFilter *PostFilter `json:"postFilter,omitempty"`
	Score      Scoring     `json:"score"`
	// Reserve, Permit, PreBind and Bind are empty if the pod fits nowhere. Bind names the plugins only: an inspection
	// binds nothing.
	Reserve []PluginResult `json:"reserve,omitempty"`
	Permit  []PluginResult `json:"permit,omitempty"`
	PreBind []PluginResult `json:"preBind,omitempty"`
	Bind    []PluginResult `json:"bind,omitempty"`
	// Nodes are all nodes: those with a score first, the highest first, then the others by outcome and name.
	Nodes []NodeResult `json:"nodes"`
}

// PluginResult is what a plugin returned.
type PluginResult struct {
	Plugin string `json:"plugin"`
	// Status is upstream's name of the code: Success, Skip, Unschedulable, Wait and so on. NotRun means that the cycle
	// ended before the plugin, or that an inspection does not run it.
	Status  string             `json:"status"`
	Reasons []sources.SafeText `json:"reasons,omitempty"`
	// Nodes counts the nodes that a PreFilter plugin leaves for Filter. Nil if it excludes none.
	Nodes *int `json:"nodes,omitempty"`
	// TimeoutSeconds is how long a Permit plugin makes the pod wait at most.
	TimeoutSeconds float64 `json:"timeoutSeconds,omitempty"`
}

// NotRun is the status of a plugin that was not called.
const NotRun = "NotRun"

// Search is the search for feasible nodes.
type Search struct {
	// Nodes counts the nodes of the cluster, Candidates those that PreFilter leaves, Evaluated those for which Filter
	// ran, and Feasible those that passed Filter and the extenders.
	Nodes      int `json:"nodes"`
	Candidates int `json:"candidates"`
	Evaluated  int `json:"evaluated"`
	Feasible   int `json:"feasible"`
	// PercentageOfNodesToScore is the configured value, and 0 for upstream's default, which depends on the size of the
	// cluster. The search ends when Enough feasible nodes are found.
	PercentageOfNodesToScore int32 `json:"percentageOfNodesToScore"`
	Enough                   int   `json:"enough"`
	// Start is where the search began, as an index in the cluster's order of nodes (upstream's nextStartNodeIndex), and
	// StartNode the node there. Each search begins where the one before it ended. StartInferred is true if Start is not
	// the scheduler's, but one with which InspectOptions.Chosen wins.
	Start         int              `json:"start"`
	StartNode     sources.SafeText `json:"startNode,omitempty"`
	StartInferred bool             `json:"startInferred,omitempty"`
	// Nominated is the pod's nominated node, if that was evaluated first. If it is feasible, no other node is evaluated.
	Nominated sources.SafeText `json:"nominated,omitempty"`
	// Extenders are the extenders that filtered nodes.
	Extenders []PluginResult `json:"extenders,omitempty"`
}

// Outcome is what became of a node in a cycle.
type Outcome string

// The outcomes of nodes.
const (
	Feasible     Outcome = "feasible"
	Rejected     Outcome = "rejected"     // by a Filter plugin or an extender
	Excluded     Outcome = "excluded"     // by PreFilter
	NotEvaluated Outcome = "notEvaluated" // enough nodes had been found
)

// NodeResult is a node in a cycle.
type NodeResult struct {
	Node    sources.SafeText `json:"node"`
	Outcome Outcome          `json:"outcome"`
	// Rejections are the first rejection of the node, or all of them if InspectOptions.AllRejections is set.
	Rejections []Rejection `json:"rejections,omitempty"`
	// Nominated are other pods that are nominated to the node and that Filter counted as if they ran there.
	Nominated []sources.SafeText `json:"nominated,omitempty"`
	// Scores are in the order of Scoring.Plugins, and Total is the sum of their weighted scores. Nil unless the node was
	// scored. Rank is 1 for the highest total; equal totals have equal ranks.
	Scores []NodeScore `json:"scores,omitempty"`
	Total  int64       `json:"total"`
	Rank   int         `json:"rank,omitempty"`
}

// Rejection is a plugin's rejection of a node.
type Rejection struct {
	// Plugin may be empty for PreFilter, if several plugins together exclude the node.
	Plugin  string             `json:"plugin,omitempty"`
	Reasons []sources.SafeText `json:"reasons"`
	// Final is true if preemption cannot help.
	Final bool `json:"final,omitempty"`
}

// Scoring is how nodes were scored.
type Scoring struct {
	// Skipped says why there are no scores: only one node is feasible, say. Empty if there are scores.
	Skipped string `json:"skipped,omitempty"`
	// Plugins are the Score plugins in their order, then the extenders that prioritize.
	Plugins []ScorePlugin `json:"plugins,omitempty"`
}

// ScorePlugin is a Score plugin or an extender that prioritizes.
type ScorePlugin struct {
	Plugin string `json:"plugin"`
	// Weight multiplies normalized scores, which are 0 to 100.
	Weight   int64 `json:"weight"`
	Extender bool  `json:"extender,omitempty"`
	// Skipped is true if PreScore returned Skip: the plugin has nothing to say about the pod and scores no node.
	Skipped bool `json:"skipped,omitempty"`
	// Error is why an extender's scores are unknown. Upstream goes on without them.
	Error sources.SafeText `json:"error,omitempty"`
}

// NodeScore is a plugin's score of a node.
type NodeScore struct {
	Raw        int64 `json:"raw"`
	Normalized int64 `json:"normalized"`
	Weighted   int64 `json:"weighted"`
}

// PostFilter is what the PostFilter plugins did for a pod that fits nowhere.
type PostFilter struct {
	Status  string           `json:"status"`
	Message sources.SafeText `json:"message,omitempty"`
	// Node is the node to which the pod is nominated, and Rule the criterion that chose it. Rule is empty if there is
	// only one candidate.
	Node sources.SafeText `json:"node,omitempty"`
	Rule PreemptionRule   `json:"rule,omitempty"`
	// Potential counts the nodes on which preemption might help, DryRun those among them that were tried, and Enough is
	// the number of candidates at which the search ends.
	Potential int `json:"potential"`
	DryRun    int `json:"dryRun"`
	Enough    int `json:"enough"`
	// Candidates are the nodes on which preemption makes room, in the order of preference.
	Candidates []PreemptionCandidate `json:"candidates,omitempty"`
	// Rejected are the nodes that were tried in vain.
	Rejected []NodeResult `json:"rejected,omitempty"`
}

// PreemptionCandidate is a node on which preemption makes room for the pod.
type PreemptionCandidate struct {
	Node sources.SafeText `json:"node"`
	// Victims are the pods that would be evicted, the most important first.
	Victims []Victim `json:"victims"`
	// PDBViolations counts the victims whose eviction violates a PodDisruptionBudget.
	PDBViolations int `json:"pdbViolations"`
	// Lost is the first criterion by which the node is worse than the chosen one. Empty for the chosen node.
	Lost PreemptionRule `json:"lost,omitempty"`
}

// Victim is a pod that would be evicted.
type Victim struct {
	Pod      sources.SafeText `json:"pod"`
	Priority int32            `json:"priority"`
	// Started is the pod's start time, zero if it has not started.
	Started time.Time `json:"started,omitzero"`
}

// PreemptionRule is a criterion of upstream's pickOneNodeForPreemption. Each breaks the ties of those before it.
type PreemptionRule string

// The criteria, in upstream's order.
const (
	FewestPDBViolations   PreemptionRule = "fewestPDBViolations"
	LowestHighestPriority PreemptionRule = "lowestHighestPriority"
	LowestPrioritySum     PreemptionRule = "lowestPrioritySum"
	FewestVictims         PreemptionRule = "fewestVictims"
	LatestStart           PreemptionRule = "latestStart"
	AnyOfEqual            PreemptionRule = "anyOfEqual"
)

// Won reports whether the cycle chooses node, or a node with the same score.
func (i *Inspection) Won(node sources.SafeText) bool {
	return node != "" && (i.Node == node || slices.Contains(i.Ties, node))
}

// InspectOptions says what an inspection computes.
type InspectOptions struct {
	// AllRejections asks every Filter plugin about each node that was rejected, not only until the first rejection.
	AllRejections bool
	// AllNodes evaluates all nodes, as with percentageOfNodesToScore 100.
	AllNodes bool
	// Chosen is the node that the real scheduler chose. Where it began its search is not known: if the search ends before
	// it has evaluated all nodes, and Chosen does not win, the inspection begins the search where Chosen does, if anywhere.
	Chosen string
}
