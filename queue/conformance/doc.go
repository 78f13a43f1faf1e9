// Package conformance holds no code but tests: the queue of this project against kube-scheduler's own,
// k8s.io/kubernetes/pkg/scheduler/backend/queue, in the same process and on the same calls.
package conformance
