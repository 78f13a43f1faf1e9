// Package export writes what is shown into files of the person's: the screen as a picture or as text, the pods as a table,
// minutes of the recording as a scenario. A file that is there is never written over.
package export
