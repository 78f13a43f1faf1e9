// Package whatif has the actions of what-ifs: what is injected into them, asked in them and done with them as a whole,
// and the page that compares two of them. The session forks by itself where one of them needs a what-if.
package whatif
