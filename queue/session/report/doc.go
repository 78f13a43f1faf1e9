// Package report says what is to be said of a whole recording: how long pods waited and for what, how well the model
// agrees with the scheduler's own log, what comes out differently under other rules, and what a person should know
// of the recording before looking at it.
//
// Each replays the recording once, or twice to compare, and ends with its context. The package imports timeline and
// what is below it.
package report
