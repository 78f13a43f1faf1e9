// Package learn holds the commands about lessons: learn, with lint and new for who writes them, and notes.
//
// It imports packages of cmd/schedq, lessons, the screen and what is below it, and no other command.
package learn
