package config

// HasChanged exports one check of the watch.
func HasChanged(w *Watch) bool { return w.hasChanged() }
