// Package page defines the parts of the screen and the state that they share.
//
// A Page fills the middle of the screen: the board, why?, a chart, a lesson with the board above it. Pages form a stack. An
// Overlay, a list or a prompt, opens above them and receives the keys. Pages, overlays and actions share a UI: the session,
// its latest frame, the selected pod, and what is open. Only the goroutine of Update may use a UI; long work runs in a
// tea.Cmd and returns a Ready.
//
// The package draws nothing. Package widget has the parts that pages are drawn with.
package page
