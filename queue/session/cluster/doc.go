// Package cluster holds what a session knows about a cluster at one moment: its objects, the cluster
// events that may be injected, and edits of nodes.
//
// Objects are replaced, never modified, and copying the set of them is cheap. The package imports
// sources, queue and words.
package cluster
