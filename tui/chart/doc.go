// Package chart has the pages that draw history over time.
package chart
