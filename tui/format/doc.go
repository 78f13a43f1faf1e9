// Package format writes names, counts and durations for the screen, as short as possible and safe to draw.
package format
