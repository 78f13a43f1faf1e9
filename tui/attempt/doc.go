// Package attempt is the page of a scheduling cycle: why a pod got its node, extension point by extension point.
package attempt
