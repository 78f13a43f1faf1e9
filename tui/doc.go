// Package tui is the screen: it draws a session's frames and turns keys into commands.
//
// The program has one tea.Model at a time: the loading page, then the split view with one session, or with two side by side.
// A model of a session receives messages, lays out what is open, and draws it. Keys go first to the top overlay, then to the
// top page, then to the board. Package keymap maps them to bindings, and UI.Actions maps bindings to what they do, or to the
// reason why they are unavailable.
//
// Update also draws, so View costs nothing. Nothing here blocks on a file or on the network, and only Run, RunLoad and the
// like access the machine.
package tui
