// Command site makes a static site of README.md, CONTRIBUTING.md and docs/: make site.
//
// The pages stay where they are and can be read on a code host; here they get a contents, a search that needs no server, and
// sessions that can be played. What comes out is plain files with relative links: they work from a folder, and below any path of
// any host, and ask no other host for anything.
//
//	book.go      which pages there are, and in which order
//	markdown.go  one page: Markdown into HTML, with GitHub's names for headings
//	links.go     where a link of a page leads on the site
//	pictures.go  pictures, and the sessions that can be played in their place
//	search.go    what the search looks through
//	write.go     the pages into a folder
package main
