// Package theme defines the colours and glyphs of the screen by their meaning: styles of package canvas, and palettes for each
// theme. Colour is never the only cue, and a test checks the contrast of every palette.
package theme
