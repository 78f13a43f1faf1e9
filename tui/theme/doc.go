// Package theme has the colours and the glyphs of the screen, by what they mean: styles of package canvas, and the
// palettes that spell them for a theme. Nothing is told by colour alone, and a test holds every palette to its
// contrast. It knows no page and nothing of what is drawn.
package theme
