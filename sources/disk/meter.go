package disk

import (
	"context"
	"sync"
)

type meterKey struct{}

// Measured returns a context in which progress is told, after each piece that is read of a file, which share of all
// that was opened is read, from 0 to 1. It is called from the goroutines that read, one at a time, and never goes back.
// What has no size, such as a pipe, is not counted.
func Measured(ctx context.Context, progress func(share float64)) context.Context {
	return Counted(ctx, func(share float64, _, _ int64) { progress(share) })
}

// Counted is Measured, and tells how many bytes are read, too, and of how many on the disk.
func Counted(ctx context.Context, progress func(share float64, read, size int64)) context.Context {
	return context.WithValue(ctx, meterKey{}, &meter{progress: progress})
}

// meter counts the bytes of files.
type meter struct {
	progress func(share float64, read, size int64)

	mu         sync.Mutex
	read, size int64
	share      float64
}

// measured returns f, or f such that ctx's meter counts what is read of it.
func measured(ctx context.Context, f File) File {
	m, ok := ctx.Value(meterKey{}).(*meter)
	if !ok {
		return f
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return f
	}
	m.opened(info.Size())
	return &metered{File: f, meter: m, size: info.Size()}
}

// opened counts a file of so many bytes.
func (m *meter) opened(size int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size += size
}

// metered is a file of which is counted what is read. Like any file, it may be closed while it is read.
type metered struct {
	File
	meter *meter
	// The meter's mutex guards these.
	read, size int64
	closed     bool
}

// Read implements io.Reader.
func (f *metered) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.count(int64(n))
	return n, err
}

// count counts n bytes as read, but no more than the size that the file had: a log may grow while it is read.
func (f *metered) count(n int64) {
	m := f.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	if n = min(n, f.size-f.read); n <= 0 || f.closed {
		return
	}
	f.read += n
	m.read += n
	m.share = max(m.share, float64(m.read)/float64(m.size))
	m.progress(m.share, m.read, m.size)
}

// Close implements io.Closer.
func (f *metered) Close() error {
	f.uncount()
	return f.File.Close()
}

// uncount takes back a file that was looked into alone.
func (f *metered) uncount() {
	m := f.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	if !f.closed && f.read < f.size {
		m.read, m.size = m.read-f.read, m.size-f.size
	}
	f.closed = true
}
