// Package replayed has a recording run to its end and tells what came of it, in words that a test compares.
//
// Only tests import it.
package replayed
