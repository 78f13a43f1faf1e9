// Package headless holds the commands that print what the model makes of a recording, or of a live cluster: watch,
// explain, report, verify and rerun; and doctor, which says what can be had of a cluster.
//
// Each prints text for a person, or the same as JSON. The package imports packages of cmd/schedq, the model's session and
// sources, and neither the screen nor another command.
package headless
