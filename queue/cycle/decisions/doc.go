// Package decisions contains tests that compare the model's verdicts with those of real kube-schedulers, attempt by
// attempt, in recordings of real clusters.
package decisions
