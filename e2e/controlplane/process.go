package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is a running program. It is killed when the test binary exits, even if that is killed.
type process struct {
	name   string
	cmd    *exec.Cmd
	log    string        // file of its output
	exited chan struct{} // closed when it has exited
}

// start runs the program at path, and appends its output to the file log.
func start(name, path, log string, args ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the process has inherited it
	p := &process{name: name, cmd: exec.Command(path, args...), log: log, exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = dieWithParent()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = p.cmd.Wait() // its log has the reason
		close(p.exited)
	}()
	return p, nil
}

// waitReady polls ready until it returns nil.
func (p *process) waitReady(ctx context.Context, ready func(context.Context) error) error {
	err := Poll(ctx, func() error {
		select {
		case <-p.exited:
			return permanent{fmt.Errorf("it exited: %s", p.cmd.ProcessState)}
		default:
			return ready(ctx)
		}
	})
	if err != nil {
		return fmt.Errorf("%s is not ready: %w\n%s", p.name, err, tail(p.log))
	}
	return nil
}

// stop terminates the process and waits for it. After grace it kills it; at once if grace is 0.
func (p *process) stop(grace time.Duration) {
	if grace > 0 {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if it has exited
		select {
		case <-p.exited:
			return
		case <-time.After(grace):
		}
	}
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// tail returns the end of a log, for an error message.
func tail(log string) string {
	const most = 2000
	text, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// permanent is an error on which Poll gives up.
type permanent struct{ error }

// Poll calls check ten times a second until it returns nil. When ctx ends it returns the last error from
// before that, since the error of an interrupted check does not show the cause.
func Poll(ctx context.Context, check func() error) error {
	var last error
	for {
		err := check()
		if err == nil || errors.As(err, &permanent{}) {
			return err
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; the last try: %w", context.Cause(ctx), last)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
