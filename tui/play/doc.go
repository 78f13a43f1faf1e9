// Package play is a cluster to play with: what can be brought into it, and the scenario that comes of that.
package play
