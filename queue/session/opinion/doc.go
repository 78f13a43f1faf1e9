// Package opinion is the second opinion on waiting pods: whether the real scheduler has lost, forgotten or starved a pod, or
// nobody serves it.
//
// A Watch reads what a source shows of the scheduler, and Judge compares that with what upstream's code does at the latest:
// the leftover flush retries each pod after PodMaxInUnschedulablePods, checked every 30 s, and activeQ is sorted by priority. A
// verdict needs evidence that is not the model's: lines of a log, Events, requests, objects. Silence is evidence only while the
// channel delivers, an attempt of that pod would show, and pods whose turn is later are seen to be tried. While the
// scheduler is silent, has just started, or its requests wait, there is no verdict but that nobody schedules the pod.
//
// The thresholds are upstream's timers. A wrong verdict is worse than none.
package opinion
