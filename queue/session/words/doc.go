// Package words formats times, counts and tiers for sentences.
//
// Its input must be safe to show, and then its output is too. It imports queue for the tiers.
package words
