// Package cli is the command line's common ground: flags that several commands share, plain output for people, and the
// process's terminal, signals and memory.
//
// A flag is registered, read once the command line is parsed, and not changed afterwards. An invalid value is a UsageError that
// names the flag. Text that reaches standard error is sanitized.
package cli
