package controlplane

import "syscall"

// dieWithParent makes the kernel kill a process when its parent exits, even if the test binary is killed.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
