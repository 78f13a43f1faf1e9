package filter

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/words"
)

// Field is a property of a pod that a filter can name: ns:shop, attempts>3.
type Field struct {
	Name    string
	Aliases []string
	// Operators are the operators that the field supports.
	Operators []string
	// Help describes the field in a few words.
	Help string

	parse func(f *Filter, operator, value string) (match func(*Pod) bool, problem string)
}

var (
	textOperators     = []string{":", "=", "!="}
	numberOperators   = []string{">", ">=", "<", "<=", "=", "!="}
	durationOperators = []string{">", ">=", "<", "<="}
)

// wrongOperator is the problem reported for an operator that a field does not support.
const wrongOperator = "operator"

// fields are all fields, in the order of the help.
var fields = [...]Field{
	text("ns", []string{"namespace"}, "the namespace", func(p *Pod, is func(string) bool) bool { return is(p.Namespace) }),
	text("name", nil, "the pod's name", func(p *Pod, is func(string) bool) bool { return is(p.Name) }),
	text("plugin", nil, "a plugin that rejected the last attempt, or that gates the pod", (*Pod).plugins),
	{Name: "tier", Operators: []string{":", "=", "!="}, parse: parseTier,
		Help: "where the pod is: active, backoff, unschedulable, gated, in-flight, bound, deleted"},
	text("owner", nil, "the controller: ReplicaSet/web-7d9f, Job/train", func(p *Pod, is func(string) bool) bool {
		return is(p.OwnerKind+"/"+p.OwnerName) || is(p.OwnerName)
	}),
	text("node", nil, "where the pod is bound or nominated to run", func(p *Pod, is func(string) bool) bool { return is(p.Node) }),
	text("verdict", nil, "the second opinion: lost, starved, staleview, missedwakeup, held, noscheduler", func(p *Pod, is func(string) bool) bool { return p.Verdict != "" && is(p.Verdict) }),
	number("attempts", nil, "how often the pod was popped", func(p *Pod) int64 { return int64(p.Attempts) }),
	number("prio", []string{"priority"}, "the priority", func(p *Pod) int64 { return int64(p.Priority) }),
	{Name: "waiting", Operators: durationOperators, parse: parseWaiting,
		Help: "how long the pod has been in the queue: 90s, 5m, 1h30m, 2d"},
}

// Fields returns all fields.
func Fields() []Field { return slices.Clone(fields[:]) }

// FieldNames returns the names of all fields.
func FieldNames() []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

// IsField reports whether there is a field with that name.
func IsField(name string) bool { return field(name) != nil }

// field returns the field with that name, or nil.
func field(name string) *Field {
	for i := range fields {
		if f := &fields[i]; f.Name == name || slices.Contains(f.Aliases, name) {
			return f
		}
	}
	return nil
}

// text returns a text field: ":" tests for a substring, "=" for equality.
func text(name string, aliases []string, help string, is func(*Pod, func(string) bool) bool) Field {
	return Field{Name: name, Aliases: aliases, Operators: textOperators, Help: help,
		parse: func(_ *Filter, operator, value string) (func(*Pod) bool, string) {
			lower := strings.ToLower(value)
			test := func(s string) bool { return strings.EqualFold(s, value) }
			switch operator {
			case ":":
				test = func(s string) bool { return containsFold(s, lower) }
			case "=":
			case "!=":
				return func(p *Pod) bool { return !is(p, test) }, ""
			default:
				return nil, wrongOperator
			}
			return func(p *Pod) bool { return is(p, test) }, ""
		}}
}

// number returns an integer field.
func number(name string, aliases []string, help string, of func(*Pod) int64) Field {
	return Field{Name: name, Aliases: aliases, Operators: numberOperators, Help: help,
		parse: func(_ *Filter, operator, value string) (func(*Pod) bool, string) {
			compare := comparison(operator)
			if compare == nil {
				return nil, wrongOperator
			}
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return nil, fmt.Sprintf("%q is not a whole number", value)
			}
			return func(p *Pod) bool { return compare(cmp.Compare(of(p), n)) }, ""
		}}
}

// comparison returns a function that interprets the result of cmp.Compare, or nil for other operators.
func comparison(operator string) func(int) bool {
	switch operator {
	case ">":
		return func(c int) bool { return c > 0 }
	case ">=":
		return func(c int) bool { return c >= 0 }
	case "<":
		return func(c int) bool { return c < 0 }
	case "<=":
		return func(c int) bool { return c <= 0 }
	case "=":
		return func(c int) bool { return c == 0 }
	case "!=":
		return func(c int) bool { return c != 0 }
	}
	return nil
}

// Tier returns the tier that text is a prefix of, in the words of the screen or of JSON:
// "unschedulable", "activeQ", "in-flight", "bound" and "scheduled".
func Tier(text string) (queue.Tier, error) {
	prefix := strings.ReplaceAll(strings.ToLower(text), "-", "")
	var names []string
	for t := queue.Active; t <= queue.Deleted; t++ {
		name, word := t.String(), words.TierWord(t)
		if prefix != "" && (strings.HasPrefix(name, prefix) || strings.HasPrefix(word, prefix)) || name+"q" == prefix {
			return t, nil
		}
		names = append(names, word)
	}
	return queue.None, fmt.Errorf("unknown tier %q: use one of %s", text, strings.Join(names, ", "))
}

func parseTier(_ *Filter, operator, value string) (func(*Pod) bool, string) {
	if !slices.Contains(textOperators, operator) {
		return nil, wrongOperator
	}
	tier, err := Tier(value)
	if err != nil {
		return nil, err.Error()
	}
	return func(p *Pod) bool { return (p.Tier == tier) == (operator != "!=") }, ""
}

func parseWaiting(f *Filter, operator, value string) (func(*Pod) bool, string) {
	if !slices.Contains(durationOperators, operator) {
		return nil, wrongOperator
	}
	duration, err := parseDuration(value)
	if err != nil || duration < 0 {
		return nil, fmt.Sprintf("invalid duration %q: use 90s, 5m, 1h30m or 2d", value)
	}
	f.waits = append(f.waits, duration)
	compare := comparison(operator)
	return func(p *Pod) bool { return compare(cmp.Compare(p.Waiting, duration)) }, ""
}

// parseDuration is time.ParseDuration with support for whole days.
func parseDuration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(s)
}
