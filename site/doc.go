// Command site builds a static website from README.md, CONTRIBUTING.md and docs/; see make site.
//
// The pages remain readable on a code host. The site adds a table of contents, a search that needs no
// server, and recorded sessions that can be played. The output is plain files with relative links, so
// it works from a folder and below any path of a host. It loads nothing from other hosts.
package main
