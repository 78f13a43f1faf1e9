// Package header draws the lines above the page: the source, who decides, the flow of pods, and the position in time.
package header
