// Package cli holds what the commands share: common flags, output for people and programs, and the
// process's terminal, signals and memory.
//
// Flags are registered before the command line is parsed and never change afterwards. An invalid
// value is a UsageError that names the flag. Text written to standard error is sanitized.
package cli
