// Package cycle is where the project asks kube-scheduler what it would do: one scheduling cycle, preemption and binding,
// what a pod lacks. Package local below answers, which is upstream's scheduler without a cluster. With the build tag
// watchonly it is not linked: then what NewFollower returns hears of pods, and all else is refused in one sentence.
package cycle
