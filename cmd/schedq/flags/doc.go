// Package flags holds the flags that several commands have, and what their values mean.
//
// A flag is registered, read once the command line is parsed, and not changed afterwards. A value that makes no sense
// is a UsageError, whose text names the flag. The package imports what the values are of (recordings, lessons, the
// modelled scheduler, the screen's options), and no command.
package flags
