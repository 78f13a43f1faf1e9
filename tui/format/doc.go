// Package format writes names, counts and times as the screen shows them, in as few letters as will do. What comes out
// is safe to draw: see Safe. It imports nothing of the screen.
package format
