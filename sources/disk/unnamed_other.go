//go:build !linux

package disk

import (
	"errors"
	"os"
)

// unnamed is 0: here every file has a name.
const unnamed = 0

func link(*os.File, string) error { return errors.ErrUnsupported }
