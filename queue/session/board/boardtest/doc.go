// Package boardtest tells boards and moves in words that a test compares. Only tests import it.
package boardtest
