// Package framework has what the project needs of kube-scheduler's framework, k8s.io/kube-scheduler/framework: cluster events,
// and what a plugin answers about them. They are upstream's own types. With the build tag watchonly they are types of the same
// names and values, for upstream's package links informers and what evaluates device selectors.
package framework
