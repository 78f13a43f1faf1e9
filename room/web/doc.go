// Package web lets visitors of a room in by a browser: a page with a terminal, and a WebSocket for what is shown and typed.
//
// Codes, seats and limits are the room's, as for SSH. The page comes whole from this package, loads nothing from
// elsewhere, and keeps no cookie; the package opens no file and dials nobody.
package web
