package chart

import "github.com/schedq/schedq/tui/page"

// All returns all charts. To add one, add it here and bind its key.
func All(d *page.UI) []Chart {
	return []Chart{newTimeline(d), newLanes(d), newPlots(d), newStack(d)}
}
