// Package explain says why: why a pod is where it is and for how long, why it made a move, what would wake it, what it
// needs of which node.
//
// A Moment is all that this takes: a board, a time and the rules. The same Moment gives the same sentences, on the
// screen and without one. The package imports board, model and what is below them, and knows neither timelines nor
// sessions.
package explain
