// Package words puts times, counts and tiers into the words that sentences of the session are made of.
//
// What goes in is safe to show already, and so is what comes out. It imports queue, for the tiers.
package words
