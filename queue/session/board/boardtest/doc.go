// Package boardtest formats boards and moves as text that tests compare. Only tests import it.
package boardtest
