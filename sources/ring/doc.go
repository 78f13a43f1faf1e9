// Package ring stores the last hours, or the last bytes, of a live cluster in a folder, as a flight recorder.
//
// A ring's folder contains segments and no index: a segment's name contains its number and its start, and each
// segment is a trace of its own. It begins with a keyframe, all that was known at its start, which ends with the
// record "attached". So the oldest segments can be dropped, and the rest is a complete recording, which Open
// reads as one.
//
// Changes while nothing was recorded, because the recorder was killed or its disk was full, are the difference
// between what was known before and the next keyframe. They are reported at the time of the keyframe, with a mark.
package ring
