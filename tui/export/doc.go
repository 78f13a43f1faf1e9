// Package export saves what the screen shows: the screen as a picture or text, the pods as a table,
// minutes of the recording as a scenario. It never overwrites a file.
package export
