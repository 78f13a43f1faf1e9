// Package world builds clusters for tests: nodes, pods and what happens to them, in seconds after a fixed
// noon, as recordings that an audit log would give; and random recordings.
//
// Only tests import it.
package world
