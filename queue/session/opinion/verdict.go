package opinion

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/words"
	"github.com/schedq/schedq/sources"
)

// Code is a stable code of a verdict. Scripts may rely on its values.
type Code string

// The verdicts, in their order of precedence: a pod has the first that applies.
const (
	// NoScheduler: no running scheduler or profile has the pod's schedulerName.
	NoScheduler Code = "NoScheduler"
	// Lost: the pod is in none of the scheduler's queues.
	Lost Code = "Lost"
	// Held: a scheduling gate, or a group, claim or device that nobody provides keeps the pod waiting.
	Held Code = "Held"
	// Starved: the pod fits on a node, and pods with precedence keep the scheduler from trying it.
	Starved Code = "Starved"
	// StaleView: the scheduler keeps rejecting the pod for a reason that the objects contradict.
	StaleView Code = "StaleView"
	// MissedWakeUp: only the leftover flush retried the pod, which fitted long before.
	MissedWakeUp Code = "MissedWakeUp"
)

// Codes lists all codes, those with precedence first.
func Codes() []Code { return []Code{NoScheduler, Lost, Held, Starved, StaleView, MissedWakeUp} }

// Verdict is what is wrong with how the scheduler treats a pod. It is immutable.
type Verdict struct {
	Code Code
	// Since is when that began.
	Since time.Time
	// Certain is true if the evidence proves it. Otherwise it is the only explanation that schedq knows.
	Certain bool
	// Evidence are the observations, oldest first.
	Evidence []Evidence
	// Event is the label of the event that should have woken the pod: of MissedWakeUp only.
	Event string
	// On is the node, claim, scheduling gate or schedulerName that the verdict is about. It may be empty.
	On string
}

// Given is the event of a pod's verdict, or of its end if Verdict is nil.
type Given struct {
	*sources.Mark // it has no text in a file
	Pod           types.NamespacedName
	UID           types.UID
	Verdict       *Verdict
}

// Evidence is one observation.
type Evidence struct {
	Time time.Time        `json:"time"`
	Text sources.SafeText `json:"text"`
}

// Line formats e with its time of day in that zone.
func (e Evidence) Line(zone words.Zone) string { return zone.Second(e.Time) + "  " + string(e.Text) }

// Shown is a verdict as commands print it: see docs/reference/outputs.md.
type Shown struct {
	Code     Code             `json:"code"`
	Since    time.Time        `json:"since"`
	Certain  bool             `json:"certain"`
	Sentence sources.SafeText `json:"sentence"`
	Evidence []Evidence       `json:"evidence"`
	Event    string           `json:"event,omitempty"`
	// Helps is what helps, and Commands do it. schedq never runs them.
	Helps sources.SafeText `json:"helps"`
	// Name is Verdict.Name.
	Name     string             `json:"-"`
	Commands []sources.SafeText `json:"commands,omitempty"`
}

// Of returns the verdict on the named pod as commands print it, or nil if v is nil.
func (v *Verdict) Of(pod types.NamespacedName, zone words.Zone) *Shown {
	if v == nil {
		return nil
	}
	s := &Shown{Code: v.Code, Name: v.Name(), Since: v.Since.UTC(), Certain: v.Certain, Sentence: sources.Sanitize(v.Sentence(zone)), Event: v.Event, Evidence: slices.Clone(v.Evidence)}
	for i := range s.Evidence {
		s.Evidence[i].Time = s.Evidence[i].Time.UTC()
	}
	helps, commands := v.helps(pod)
	s.Helps = sources.Sanitize(helps)
	for _, c := range commands {
		s.Commands = append(s.Commands, sources.Sanitize(c))
	}
	return s
}

// Is reports whether v and other are the same verdict, whatever evidence was added since. Either may be nil.
func (v *Verdict) Is(other *Verdict) bool {
	if v == nil || other == nil {
		return v == other
	}
	return v.Code == other.Code && v.Since.Equal(other.Since) && v.Certain == other.Certain && v.Event == other.Event && v.On == other.On
}

// Name returns the verdict in a word or two for a narrow place: "lost", "starved?". A question mark stands for probably.
func (v *Verdict) Name() string {
	name := map[Code]string{NoScheduler: "no scheduler", Lost: "lost", Held: "held", Starved: "starved", StaleView: "stale view", MissedWakeUp: "missed wake-up"}[v.Code]
	if !v.Certain {
		name += "?"
	}
	return name
}

// Sentence returns the verdict as a sentence, with times of day in zone.
func (v *Verdict) Sentence(zone words.Zone) string {
	text := ""
	switch v.Code {
	case NoScheduler:
		text = fmt.Sprintf("No scheduler works on pods with schedulerName %s.", v.On)
	case Lost:
		text = "The scheduler has lost it: it is in none of the scheduler's queues, and is not tried again."
	case Held:
		text = v.held()
	case Starved:
		text = "It fits on " + v.On + ", and is not tried: pods with a higher priority keep the scheduler busy."
	case StaleView:
		text = "The scheduler keeps rejecting it although " + v.On + " has room: what the scheduler knows of the node is out of date."
	case MissedWakeUp:
		text = fmt.Sprintf("%s made it fit on %s, and did not wake it: only the leftover flush retried it.", v.Event, v.On)
	}
	if !v.Certain {
		text = "Probably: " + text
	}
	return text + " Since " + zone.Second(v.Since) + "."
}

// held is Sentence of Held.
func (v *Verdict) held() string {
	if len(v.Evidence) > 0 {
		return string(v.Evidence[len(v.Evidence)-1].Text)
	}
	return "It waits for " + v.On + "."
}

// helps returns what helps the named pod, and commands that do it.
func (v *Verdict) helps(pod types.NamespacedName) (text string, commands []string) {
	on := fmt.Sprintf("%s -n %s", pod.Name, pod.Namespace)
	switch v.Code {
	case NoScheduler:
		return "Start that scheduler, or create the pod again with the schedulerName of one that runs.", []string{"kubectl get pods -A --field-selector spec.schedulerName=" + v.On}
	case Lost:
		return "Any change of the pod puts it back into the queue: a label does. If that does not help, delete the pod for its controller to create it again, or restart the leading kube-scheduler.",
			[]string{"kubectl label pod " + on + " rescheduled=1", "kubectl delete pod " + on}
	case Held:
		return "The scheduler does what it should. Provide what the pod waits for.", []string{"kubectl describe pod " + on}
	case Starved:
		return "Raise the pod's priority, lower or delete the pods ahead of it, or make room for them.", []string{"kubectl get pods -A --field-selector status.phase=Pending --sort-by .spec.priority"}
	case StaleView:
		return "Any change of the node makes the scheduler read it again: an annotation does. If that does not help, restart the leading kube-scheduler.",
			[]string{fmt.Sprintf("kubectl annotate node %s reread=1", v.On)}
	}
	return "The pod is bound. The queueing hint of a plugin that rejected it let the event pass: report that to the plugin's authors.", nil
}
