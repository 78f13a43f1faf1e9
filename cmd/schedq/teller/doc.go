// Package teller tells in sentences, on standard error, how the stream of a live cluster stands.
//
// Trouble is told once for each of its reasons and only when it lasts, and its end is told. The package imports sources
// alone.
package teller
