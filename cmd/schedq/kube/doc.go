// Package kube holds kubectl's flags, those of the cluster's scheduler, and the way from them to a live cluster.
//
// Files that a kubeconfig names are looked at before anything reads them: none is without an end or out of all
// proportion. What bars the way is said in one sentence. The package imports flags, sources/live and the model's
// session, and no command.
package kube
