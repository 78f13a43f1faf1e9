package disk

import (
	"os"
	"path/filepath"
)

// Config returns the folder of the configuration file: schedq in $XDG_CONFIG_HOME, or in ~/.config if that is not
// set. The error is that there is no home folder either. Whether the folder is there is another question.
func ConfigFolder() (string, error) { return xdgFolder("XDG_CONFIG_HOME", ".config") }

// State returns the folder of what schedq remembers by itself (recordings, progress, views, logs): schedq in
// $XDG_STATE_HOME, or in ~/.local/state if that is not set. The error is as Config's.
func StateFolder() (string, error) {
	return xdgFolder("XDG_STATE_HOME", filepath.Join(".local", "state"))
}

// folder returns schedq's folder in the one that the variable names, or in that one of the home folder.
func xdgFolder(variable, otherwise string) (string, error) {
	base := os.Getenv(variable)
	if !filepath.IsAbs(base) { // as the specification has it, a relative path is none
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		base = filepath.Join(home, otherwise)
	}
	return filepath.Join(base, "schedq"), nil
}
