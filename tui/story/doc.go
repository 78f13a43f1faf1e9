// Package story describes one pod: its name, its moves, its lane, why it waits, and texts about it to copy. It has the page
// "why?", which the board also draws beside its log.
package story
