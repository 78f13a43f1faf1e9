// Package metrics offers the model's figures to Prometheus under the names of kube-scheduler's own, so that a dashboard
// made for kube-scheduler shows them; and beside them, under names of its own, what kube-scheduler does not export.
//
// A counter never falls, except when another history is shown: that is a reset to Prometheus. The package imports the
// queue and its session, and neither the command line nor the screen.
package metrics
