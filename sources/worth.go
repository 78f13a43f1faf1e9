package sources

// How accurate the model is, by the logs it reads: ranges of recall and precision over four recordings whose moves are all known.
// The figures are those of docs/development/accuracy.md; a test in docs compares them.
const (
	// WorthOfAudit is for an audit log alone, under the policy of docs/use/recordings.md.
	WorthOfAudit = "97.6 to 98.9 % of the moves are found, and 98.3 to 99.7 % of those reported are right"
	// WorthOfCloud is for an audit log alone, under a cloud's fixed policy.
	WorthOfCloud = "97.2 to 98.9 % of the moves are found, and 96.1 to 98.3 % of those reported are right"
	// WorthWithLog and WorthOfCloudWithLog are for the same audit logs with the scheduler's log at -v=2.
	WorthWithLog        = "98.9 to 99.7 % of the moves are found, and 99.0 to 100 % of those reported are right"
	WorthOfCloudWithLog = "98.9 to 99.7 % of the moves are found, and 99.0 to 100 % of those reported are right"
	// WorthUnseeded is for the last half of an audit log, without a seed and with one.
	WorthUnseeded = "for the second half of a log alone, 87.5 to 96.3 % of the moves are found, instead of 96.1 to 99.0 % with a seed"
)
