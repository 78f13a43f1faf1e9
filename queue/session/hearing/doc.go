// Package hearing works out when a scheduler heard of a change late, from what its attempts are told to have come to, and in which order.
// It decides nothing about the queue.
package hearing
