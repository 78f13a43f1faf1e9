// Package schedulerconfig is a kube-scheduler's configuration: the KubeSchedulerConfiguration file of its --config,
// and its --feature-gates, with upstream's defaults for what they do not say.
//
// It is as strict as kube-scheduler itself (cmd/kube-scheduler/app/options/configfile.go), and bounded: a file
// holds a mebibyte and a list a hundred elements at the most. It may import queue, whose options the configuration
// sets, and sources; nothing else of the project.
package schedulerconfig
