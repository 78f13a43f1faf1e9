// Package notes shows a speaker the notes of the lesson that is on the screen of another process.
//
// It reads where that lesson is, several times a second, and writes each step once. It changes no file. It imports
// progress, lessons and what those import, and nothing of the screen.
package notes
