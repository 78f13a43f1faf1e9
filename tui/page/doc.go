// Package page is what the screen is made of, and what all of it works with.
//
// A Page has the middle of the screen: the board, why?, a chart, a lesson around the board. Pages are a stack; an Overlay
// is open above them and gets the keys: a list or a prompt. Both, and the actions that keys do, share a UI: the
// session that is shown, its newest frame, the pod that the person speaks of, what is open. A UI belongs to the
// goroutine of Update, and to nobody else: what takes long is done in a tea.Cmd and comes back as a Ready.
//
// The package draws nothing. What pages are made of is in package widget.
package page
