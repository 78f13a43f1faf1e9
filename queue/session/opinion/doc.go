// Package opinion finds waiting pods that the real scheduler has lost, forgotten or starved, or that no scheduler is responsible for.
//
// A Watch records what a source shows of the scheduler, and Judge compares that with upstream's timers: the leftover flush retries each pod after PodMaxInUnschedulablePods, checked every 30 s, and activeQ is sorted by priority. A
// verdict needs evidence that is not the model's: lines of a log, Events, requests, objects. A missing attempt is evidence only
// while the watches work, an attempt of that pod would leave a trace, and pods that come later in activeQ are tried. While the
// scheduler is silent, has just started, or its requests wait, the only verdict is NoScheduler.
//
// The thresholds are upstream's timers. A wrong verdict is worse than none.
package opinion
