// Package outcome has the panel of what came of what was asked in a what-if: the answer in full, and every node and pod
// that it names. It stays until it is closed.
package outcome
