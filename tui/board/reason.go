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

// drawReason draws why the pod waits: the plugins that rejected or gate it, or an error.
func drawReason(a canvas.Area, pod *board.Pod) {
	style := theme.Tier(pod.Tier)
	switch plugins := pod.RejectorPlugins(); {
	case pod.Tier == queue.Gated:
		end := a.Text(0, 0, style, "gated ")
		if plugin := format.Safe(pod.GatingPlugin); canvas.Width(plugin) <= a.W-end {
			a.Text(end, 0, style, plugin)
		}
	case failedByError(pod):
		a.Text(0, 0, theme.Alarm, "an error")
	default:
		a.Text(0, 0, style, PluginNames(plugins, a.W))
	}
}

// failedByError reports whether the pod's last attempt failed with an error instead of a rejection.
func failedByError(pod *board.Pod) bool {
	return len(pod.UnschedulablePlugins)+len(pod.PendingPlugins) == 0 && pod.ConsecutiveErrorsCount > 0
}

// reasonWidth returns the full width of the reason.
func reasonWidth(pod *board.Pod) int {
	switch plugins := pod.RejectorPlugins(); {
	case pod.Tier == queue.Gated:
		return len("gated ") + canvas.Width(format.Safe(pod.GatingPlugin))
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

// reasonTakes returns how many of w cells the reason uses. Plugin names are shown whole or not at
// all.
func reasonTakes(pod *board.Pod, w int) int {
	if pod.Tier == queue.Gated || failedByError(pod) {
		return min(reasonWidth(pod), w)
	}
	return canvas.Width(PluginNames(pod.RejectorPlugins(), w))
}

// PluginNames returns the names that fit into width, and the number of the others, in words if they
// fit.
func PluginNames(plugins []string, width int) string {
	if len(plugins) == 0 {
		return "—"
	}
	return fitting(plugins, " ", width)
}

// fitting joins the names that fit into width with a separator, and adds the number of the others.
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
