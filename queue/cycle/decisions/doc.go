// Package decisions holds no code but tests: the model's verdict on a pod against that of a real
// kube-scheduler, attempt by attempt, in recordings of real clusters.
package decisions
