// Package hostile holds no code but tests: the program itself, as a process with limits on its time and its memory,
// against what nobody should give it. They take longer than a test may and need a program that was built before, so they
// run where SCHEDQ_PROGRAM names one, as make signals and make hostile do.
package hostile
