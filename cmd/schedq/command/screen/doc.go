// Package screen holds the commands that open the screen: schedq itself, replay, attach and play.
//
// Whatever can be wrong with the flags and with what they name is found before the screen is taken. The package imports
// packages of cmd/schedq, the screen and what is below it, and no other command.
package screen
