// Package await is the screen while a recording is read of which nothing can be shown before that: how much of it is read, how long
// that still takes, and the keys that stop it.
package await
