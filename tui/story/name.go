package story

import (
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// mostMates limits how many pods of a group are counted.
const mostMates = 1000

// RowName returns the name of a row in width columns: the pod's, or its group's if the row stands for the group.
func RowName(b *board.Board, p *board.Pod, width int) string {
	if p.Group == "" {
		return canvas.TruncateMiddle(PodName(p.Key, width), width)
	}
	if b.Folded(p) {
		n := b.CountMates(p, mostMates)
		size := " ×" + strconv.Itoa(n)
		if n == mostMates {
			size = " ×1k+"
		}
		room := width - canvas.Width(size) - 2
		return theme.GlyphFolded + " " + canvas.TruncateMiddle(format.Safe(p.Group), max(1, room)) + size
	}
	mark := "  "
	if b.StandsForGroup(p) {
		mark = theme.GlyphUnfolded + " "
	}
	return mark + canvas.TruncateMiddle(PodName(p.Key, width-2), max(1, width-2))
}

// PodName returns a pod's name, with its namespace if that is not "default" and both fit into width.
func PodName(key types.NamespacedName, width int) string {
	if key.Namespace == "default" || key.Namespace == "" || len(key.Namespace)+1+len(key.Name) > width {
		return format.Safe(key.Name)
	}
	return format.Safe(key.Namespace + "/" + key.Name)
}

// PodProvenance returns the glyph for how the pod's tier is known.
func PodProvenance(p *board.Pod) string {
	if p.Estimated && !p.Observed {
		return theme.GlyphEstimated
	}
	return theme.Provenance(p.Observed)
}
