package disk

import (
	"context"
	"sync"
)

type meterKey struct{}

// Measured returns a context in which each read calls progress with the share of all opened files that was read, from 0
// to 1, which never decreases. It is called from the reading goroutines, one at a time. Files without a size, such as
// pipes, are not counted.
func Measured(ctx context.Context, progress func(share float64)) context.Context {
	return Counted(ctx, func(share float64, _, _ int64) { progress(share) })
}

// Counted is Measured with the number of bytes read and their total.
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

// measured returns f with its reads counted by ctx's meter, if there is one.
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

// opened adds a file of that many bytes.
func (m *meter) opened(size int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size += size
}

// metered is a file whose reads are counted. It may be closed during a read.
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

// count adds n bytes, up to the size that the file had: a log may grow while it is read.
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

// uncount removes a file that was only inspected.
func (f *metered) uncount() {
	m := f.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	if !f.closed && f.read < f.size {
		m.read, m.size = m.read-f.read, m.size-f.size
	}
	f.closed = true
}
