// Package world makes up clusters for tests: nodes, pods and what happens to them, second by second after a fixed noon,
// as a recording that an audit log would give; and recordings that are drawn at random.
//
// Only tests import it.
package world
