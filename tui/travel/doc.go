// Package travel has the actions that go through time: play, step, seek, search, marks.
package travel
