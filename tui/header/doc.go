// Package header draws the lines above the page: what is shown, who decides, and where in time that is.
package header
