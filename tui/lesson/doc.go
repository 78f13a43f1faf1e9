// Package lesson is the page of a lesson below a smaller board, and what keys do there. What is taught, and when a goal
// is reached, is package lessons'.
package lesson
