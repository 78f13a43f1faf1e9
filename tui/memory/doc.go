// Package memory is how a source was looked at last, and whoever keeps that. It is for whoever keeps it, too: it
// imports nothing of the screen.
package memory
