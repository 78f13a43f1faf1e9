// Package conformance contains tests that compare package queue with kube-scheduler's own queue,
// k8s.io/kubernetes/pkg/scheduler/backend/queue, by making the same calls on both.
package conformance
