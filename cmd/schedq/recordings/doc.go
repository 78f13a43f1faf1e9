// Package recordings keeps the recordings that are made by themselves while a cluster is watched, in the state folder.
//
// They are their owner's alone, and bounded: 256 MiB each and 1 GiB together, of which the oldest are removed. No file
// that another process writes is removed, and none that is not such a recording. The package imports config/xdg and
// sources.
package recordings
