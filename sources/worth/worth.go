// Package worth has the accuracy of the model by the logs it gets: the ranges of recall and precision in four recordings.
// The figures are those of docs/development/accuracy.md; a test in docs compares them.
package worth

const (
	// Audit is an audit log alone, under the policy of docs/use/recordings.md.
	Audit = "98.9 to 99.2 % of the moves are found, and 98.2 to 99.7 % of those told are right"
	// Cloud is one whose policy can't be changed.
	Cloud = "98.1 to 99.7 % of the moves are found, and 96.5 to 100 % of those told are right"
	// Beside is a scheduler's log of -v=2 beside Audit, BesideCloud beside Cloud.
	Beside      = "99.1 to 99.7 % of the moves are found, and 99.1 to 100 % of those told are right"
	BesideCloud = "99.1 to 99.7 % of the moves are found, and 99.1 to 100 % of those told are right"
	// Unseeded is the last half of an audit log without a seed, compared with the same with one.
	Unseeded = "of the last half of a log 86.6 to 96.4 % of the moves are found, instead of 96.1 to 99.1"
)
