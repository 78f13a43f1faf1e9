// Package hostile tests the built program as a process, with limits on its time and memory, against
// hostile files, arguments, environments and signals. The tests are slow and need the program that
// SCHEDQ_PROGRAM names: make signals and make hostile build and set it.
package hostile
