// Package travel has the actions that move through time: play, step, seek, search, marks.
package travel
