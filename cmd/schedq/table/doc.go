// Package table writes aligned text for a person to read.
//
// Widths are counted from the cells of all rows before the first is written. Cells are safe to show already: what
// comes from outside was sanitized by whoever made them. The package imports the standard library alone.
package table
