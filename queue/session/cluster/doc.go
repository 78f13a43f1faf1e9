// Package cluster holds the objects of a cluster at one moment, questions about pods and events, and the
// cluster events that may be injected.
//
// Objects are replaced, never modified, and copying the set of them is cheap. The package imports
// sources, queue, queue/cycle and words.
package cluster
