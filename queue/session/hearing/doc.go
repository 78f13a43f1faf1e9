// Package hearing works out when a scheduler heard of a change late, from what its attempts are told to have come to. It decides
// nothing about the queue.
package hearing
