// Package progress keeps how far a learner has come in the lessons, and where the lesson is that is on their screen, in
// the state folder.
//
// Each file is there whole or not at all, whoever else writes it. The package imports config/xdg, lessons and
// sources, and neither the command line nor the screen.
package progress
