package chart

import "github.com/schedq/schedq/tui/page"

// All are the charts there are. A new one is its own file, a line here and a binding.
func All(d *page.UI) []Chart {
	return []Chart{newTimeline(d), newLanes(d), newPlots(d), newStack(d)}
}
