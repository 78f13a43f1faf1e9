// Package nodes is the page of the cluster's nodes: free resources, pods, and what the selected pod
// lacks on each.
package nodes
