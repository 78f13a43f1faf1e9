//go:build !linux

package disk

import (
	"errors"
	"os"
)

// unnamed is 0: there are no unnamed files here.
const unnamed = 0

func link(*os.File, string) error { return errors.ErrUnsupported }
