// Package metrics exposes the model's figures to Prometheus: under kube-scheduler's own metric names,
// for dashboards made for kube-scheduler, and under schedq's names what kube-scheduler does not export.
//
// Counters never fall, except when the session shows another history, which is a counter reset to
// Prometheus. The package imports neither the command line nor the screen.
package metrics
