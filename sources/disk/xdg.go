package disk

import (
	"os"
	"path/filepath"
)

// ConfigFolder returns the folder of the configuration file, which may not exist: schedq in $XDG_CONFIG_HOME, or in
// ~/.config if that is not set. It returns an error if there is no home folder.
func ConfigFolder() (string, error) { return xdgFolder("XDG_CONFIG_HOME", ".config") }

// StateFolder returns the folder of schedq's state (recordings, progress, views, logs): schedq in $XDG_STATE_HOME, or in
// ~/.local/state if that is not set. Errors are those of ConfigFolder.
func StateFolder() (string, error) {
	return xdgFolder("XDG_STATE_HOME", filepath.Join(".local", "state"))
}

// xdgFolder returns schedq's folder in the folder that the variable names, or in otherwise in the home folder.
func xdgFolder(variable, otherwise string) (string, error) {
	base := os.Getenv(variable)
	if !filepath.IsAbs(base) { // the specification requires ignoring relative paths
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		base = filepath.Join(home, otherwise)
	}
	return filepath.Join(base, "schedq"), nil
}
