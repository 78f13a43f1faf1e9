package command

import (
	"fmt"
	"os"
	"path/filepath"
)

// checkFolder finds out whether others could put a key of theirs where the one at path is. A folder that is not there
// yet is made for its owner alone.
func checkKeyFolder(path string) error {
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	if err != nil {
		return nil // reading or making the key says what is wrong
	}
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("the host key %s is in a folder that everybody may write to: chmod o-w %s, or keep it in another one", path, folder)
	}
	return nil
}
