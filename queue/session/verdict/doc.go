// Package verdict contains the outcome of scheduling attempts: the model's own, and what kube-scheduler's messages and log
// lines show: which plugin rejected which nodes, and which moves an attempt causes.
//
// The reasons of upstream's plugins are generated from the sources of every release since v1.19. The package imports queue,
// queue/cycle and sources.
package verdict
