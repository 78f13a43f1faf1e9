// Package lesson is the page of a lesson below the board. Package lessons has the contents, and decides when a goal is reached.
package lesson
