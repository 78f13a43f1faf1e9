package cluster

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// EditNode applies one change to n in kubectl's notation: KEY=VALUE:EFFECT and KEY:EFFECT add a taint,
// KEY:EFFECT- and KEY- remove taints; KEY=VALUE sets a label, KEY- removes it; cordon and uncordon.
func EditNode(n *v1.Node, edit string) error {
	switch edit {
	case "cordon", "uncordon":
		cordon(n, edit == "cordon")
		return nil
	}
	text, remove := strings.CutSuffix(edit, "-")
	text, effect, isTaint := strings.Cut(text, ":")
	key, value, _ := strings.Cut(text, "=")
	if problems := validation.IsQualifiedName(key); len(problems) > 0 {
		return fmt.Errorf("invalid node change %q: use KEY=VALUE:NoSchedule (taint), KEY=VALUE (label), KEY- (remove), cordon or uncordon", edit)
	}
	if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
		return fmt.Errorf("invalid label or taint value %q", value)
	}
	taint := v1.Taint{Key: key, Value: value, Effect: v1.TaintEffect(effect)}
	if isTaint && !slices.Contains([]v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute}, taint.Effect) {
		return fmt.Errorf("invalid taint effect %q: use NoSchedule, PreferNoSchedule or NoExecute", effect)
	}
	tainted := slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == key })
	_, labelled := n.Labels[key]
	switch {
	case remove && !tainted && !labelled:
		return fmt.Errorf("node %s has no label or taint %s", n.Name, key)
	case remove:
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool {
			return t.Key == key && (effect == "" || t.Effect == taint.Effect)
		})
		if !isTaint {
			delete(n.Labels, key)
		}
	case isTaint:
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == key && t.Effect == taint.Effect })
		n.Spec.Taints = append(n.Spec.Taints, taint)
	case !strings.Contains(text, "="):
		return fmt.Errorf("invalid node change %q: use KEY=VALUE to set a label", edit)
	default:
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[key] = value
	}
	return nil
}

// cordon cordons or uncordons n, including the taint that the node controller adds.
func cordon(n *v1.Node, on bool) {
	n.Spec.Unschedulable = on
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == v1.TaintNodeUnschedulable })
	if on {
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule})
	}
}
