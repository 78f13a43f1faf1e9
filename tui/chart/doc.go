// Package chart has the pages that draw what happened through time. To add one, write it into a file of its own, put it
// into All, and bind the key that it names in package keymap.
package chart
