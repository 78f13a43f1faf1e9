// Package remote serves and fetches a part of a ring over HTTP, as a compressed trace.
//
// The server is read-only, listens on the loopback interface, requires a token and limits the number of clients. The
// client follows no redirects, sends the token only to the given URL, and sends it in clear text only to this machine.
package remote
