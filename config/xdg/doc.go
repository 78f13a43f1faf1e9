// Package xdg names the two folders in which schedq keeps files of its own, after the XDG Base Directory
// Specification.
//
// The same folders hold on every system, macOS and Windows included. The environment is read anew at each call. The
// package makes no folder and keeps no state. It imports the standard library alone.
package xdg
