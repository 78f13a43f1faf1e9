package config

// HasChanged is one look of the watch.
func HasChanged(w *Watch) bool { return w.hasChanged() }
