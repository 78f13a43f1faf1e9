// Package cluster is what a session knows of the cluster at a moment: its objects, which change by being replaced and
// can be copied for nothing; the cluster events that may be injected; edits of nodes.
//
// An object that was put in is never changed afterwards. The package imports sources and words, and knows neither the
// queue nor time.
package cluster
