// Package widget has the parts of pages: lists and prompts that open above a page, the key bar, and time axes and bars drawn to
// scale.
package widget
