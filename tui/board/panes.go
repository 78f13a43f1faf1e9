package board

// paneID identifies a part of the board that can have the focus.
type paneID uint8

const (
	activePane paneID = iota
	backoffPane
	unschedulablePane
	flightPane
	logPane

	paneCount
)

// paneTitles are the panes' names, as in the key bindings.
var paneTitles = [...]string{"activeQ", "backoffQ", "unschedulable", "in-flight", "log"}
