//go:build !windows && !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package disk

import (
	"errors"
	"os"
)

const (
	dontWait      = 0
	dontFollow    = 0
	goesWithClose = 0
)

func lock(*os.File, bool) error { return errors.ErrUnsupported }

func ours(os.FileInfo) bool { return false }
