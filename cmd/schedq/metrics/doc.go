// Package metrics exposes the model's figures to Prometheus. Those that kube-scheduler exports, too, have its
// labels, and schedq_ where its names have scheduler_: where Prometheus scrapes both, no sum counts twice.
//
// Counters never fall, except when the session shows another history, which is a counter reset to
// Prometheus. The package imports neither the command line nor the screen.
package metrics
