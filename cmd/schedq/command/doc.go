// Package command holds schedq's commands, one per file.
//
// Invalid flags, unreadable files and an unreachable cluster are reported before a command takes the screen, opens a room or
// writes a file. No command overwrites a file without --force.
package command
