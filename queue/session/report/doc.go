// Package report analyzes whole recordings: how long pods waited and for what, how well the model agrees
// with the scheduler's own log, what differs under other rules, and notices about a recording.
//
// Each analysis replays the recording once, or twice to compare, and ends with its context. The package
// imports timeline and what it imports.
package report
