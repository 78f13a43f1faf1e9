// Package story tells of one pod: its name, its moves, its life as a lane, why it waits, and what of that can be copied.
// The page "why?" is here, which the board draws beside its log, too.
package story
