// Package verdict holds what a scheduling attempt came to, and reads upstream's messages: which plugin turned which nodes down.
// It knows no queue and no time of its own.
package verdict
