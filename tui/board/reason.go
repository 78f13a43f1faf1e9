package board

import (
	"fmt"
	"strconv"

	"github.com/schedq/schedq/queue"
	"github.com/schedq/schedq/queue/session/board"
	"github.com/schedq/schedq/tui/canvas"
	"github.com/schedq/schedq/tui/format"
	"github.com/schedq/schedq/tui/theme"
)

// drawReason draws what keeps the pod where it is: the plugins that rejected it or gate it, or an error.
func drawReason(a canvas.Area, pod *board.Pod) {
	style := theme.Tier(pod.Tier)
	switch plugins := pod.RejectorPlugins(); {
	case pod.Tier == queue.Gated:
		end := a.Text(0, 0, style, theme.GlyphGated+" gated ")
		if plugin := format.Safe(pod.GatingPlugin); canvas.Width(plugin) <= a.W-end {
			a.Text(end, 0, style, plugin)
		}
	case failedByError(pod):
		a.Text(0, 0, theme.Alarm, "an error")
	default:
		a.Text(0, 0, style, PluginNames(plugins, a.W))
	}
}

// failedByError reports whether the pod's last attempt failed without a plugin that rejected it.
func failedByError(pod *board.Pod) bool {
	return len(pod.UnschedulablePlugins)+len(pod.PendingPlugins) == 0 && pod.ConsecutiveErrorsCount > 0
}

// reasonWidth is how many cells all of that takes.
func reasonWidth(pod *board.Pod) int {
	switch plugins := pod.RejectorPlugins(); {
	case pod.Tier == queue.Gated:
		return len("⊘ gated ") - 2 + canvas.Width(format.Safe(pod.GatingPlugin))
	case failedByError(pod):
		return len("an error")
	default:
		n := max(len(plugins)-1, 0)
		for _, name := range plugins {
			n += canvas.Width(format.Safe(name))
		}
		return n
	}
}

// reasonTakes is how many of w cells what fits of it takes: the names of plugins are told whole or not at all.
func reasonTakes(pod *board.Pod, w int) int {
	if pod.Tier == queue.Gated || failedByError(pod) {
		return min(reasonWidth(pod), w)
	}
	return canvas.Width(PluginNames(pod.RejectorPlugins(), w))
}

// PluginNames writes as many names as fit into width, and how many more there are: in words where there is room for them.
func PluginNames(plugins []string, width int) string {
	if len(plugins) == 0 {
		return "—"
	}
	return fitting(plugins, " ", width)
}

// fitting writes the first of names, with something between them, and how many more there are, into width.
func fitting(names []string, between string, width int) string {
	for n := len(names); n > 0; n-- {
		text, others := format.SafeList(names[:n], between), len(names)-n
		if others > 0 {
			text += fmt.Sprintf(" and %d more", others)
		}
		if canvas.Width(text) <= width {
			return text
		}
	}
	others := ""
	if len(names) > 1 {
		others = "+" + strconv.Itoa(len(names)-1)
	}
	return canvas.Truncate(format.Safe(names[0]), width-len(others)) + others
}
