package board

// paneID names what can have the focus.
type paneID uint8

const (
	activePane paneID = iota
	backoffPane
	unschedulablePane
	flightPane
	logPane

	paneCount
)

// paneTitles are the panes' names, as their keys' bindings have them.
var paneTitles = [...]string{"activeQ", "backoffQ", "unschedulable", "in-flight", "log"}
