// Package outcome is the panel with the result of a what-if change: the full answer, and every node
// and pod in it. It stays until the user closes it or leaves the what-if.
package outcome
