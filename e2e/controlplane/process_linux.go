package controlplane

import "syscall"

// dieWithParent has the kernel kill a process when its parent is gone, so that nothing stays behind even
// when a test binary is killed.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
