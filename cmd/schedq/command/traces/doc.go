// Package traces holds the commands that write recordings: record, of a live cluster, and convert, of files.
//
// Nothing that is there is overwritten unasked. The package imports packages of cmd/schedq, the model's session and
// sources, and neither the screen nor another command.
package traces
