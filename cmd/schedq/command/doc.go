// Package command holds schedq's commands, one per file. main adds those that the New functions return
// to the root command.
//
// A command reports invalid flags, unreadable files and an unreachable cluster before it takes the
// screen, opens a room or writes a file. No command overwrites a file without --force.
package command
