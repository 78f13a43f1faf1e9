// Package nodes has the page of the cluster's nodes: what of each is free, who is on it, and what the selected pod lacks
// there.
package nodes
