// Package explain explains why a pod is where it is and for how long, why it moved, what would wake it,
// and what it needs from which node.
//
// Its only input is a Moment: a board, a time and the rules. Equal Moments give equal sentences, on the
// screen and in the commands. The package imports board, model and what they import, but neither
// timelines nor sessions.
package explain
