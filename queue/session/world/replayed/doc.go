// Package replayed replays recordings and formats the result as text that tests compare.
//
// Only tests import it.
package replayed
