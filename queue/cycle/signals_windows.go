package cycle

// unsubscribe does nothing: on Windows, the signal of upstream's cache debugger is that of ctrl+c.
func unsubscribe() {}
