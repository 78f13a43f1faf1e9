// Package ring keeps the last hours of a live cluster, or so many bytes of it, in a folder: the flight recorder's.
//
// A ring's folder holds segments and nothing else that matters, no index: a segment's name says where it belongs and when it
// begins, and each is a trace of its own. It begins with a keyframe, all that was known at that moment, which ends with the
// record "attached". So the oldest segments can be dropped, and what is left is a whole recording, which Open reads as one.
//
// What was told of the cluster while nobody recorded, because the recorder was killed or its disk was full, is the difference
// between what was known before and the next keyframe; it is told as one change at that moment, with a mark.
package ring
