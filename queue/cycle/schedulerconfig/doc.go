// Package schedulerconfig reads a kube-scheduler's configuration: the KubeSchedulerConfiguration file of its flag
// --config, and its flag --feature-gates, completed with upstream's defaults.
//
// It is as strict as kube-scheduler (cmd/kube-scheduler/app/options/configfile.go), but ignores unknown fields and gates. A file is limited to 1 MiB, and a
// list to 100 elements.
package schedulerconfig
