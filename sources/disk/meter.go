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
	return context.WithValue(ctx, meterKey{}, &meter{progress: progress})
}

// meter counts the bytes of files.
type meter struct {
	progress func(share float64)

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

// counted counts so many bytes as read.
func (m *meter) counted(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read += n
	m.share = max(m.share, float64(m.read)/float64(m.size))
	m.progress(m.share)
}

// closed takes back a file that was looked into alone: of size bytes read were.
func (m *meter) closed(read, size int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read, m.size = m.read-read, m.size-size
}

// metered is a file of which is counted what is read.
type metered struct {
	File
	meter      *meter
	read, size int64
	done       bool
}

// Read implements io.Reader. No more is counted than the size that the file had: a log may grow while it is read.
func (f *metered) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if more := min(int64(n), f.size-f.read); more > 0 {
		f.read += more
		f.meter.counted(more)
	}
	return n, err
}

// Close implements io.Closer.
func (f *metered) Close() error {
	if !f.done && f.read < f.size {
		f.meter.closed(f.read, f.size)
	}
	f.done = true
	return f.File.Close()
}
