// Package web serves a room to browsers: a page with a terminal, and a WebSocket for its input and
// output.
//
// Codes, seats and limits are those of the room, shared with SSH. All files of the page are embedded;
// it loads nothing from other hosts and sets no cookies. The package opens no files and makes no
// outgoing connections.
package web
