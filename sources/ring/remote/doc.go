// Package remote serves a stretch of a ring over HTTP, and fetches one: a trace, packed, between two processes of one person.
//
// It is served read-only, on the loopback interface, to whoever has the token, to few at a time. It is fetched from the URL that
// the person named and from nowhere else, and the token is sent there alone, and in clear text only to this machine.
package remote
