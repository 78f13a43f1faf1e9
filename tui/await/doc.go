// Package await is the screen while the recording is read that the program begins with: how much of it is read, how long
// that still takes, and the keys that stop it.
package await
