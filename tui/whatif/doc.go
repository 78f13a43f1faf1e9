// Package whatif has the actions of what-ifs: injections, questions to the local scheduler, and
// managing what-ifs, with the page that compares two of them. The session forks by itself if an
// action needs a what-if.
package whatif
