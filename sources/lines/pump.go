package lines

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
)

const (
	blockSize  = 512 << 10
	blocks     = 4 // in flight between the pump and its reader
	bufferSize = 64 << 10
)

// pump reads and decompresses in a goroutine of its own, so that decompressing and parsing
// use two cores. It reuses blocks.
type pump struct {
	ctx         context.Context
	compression string       // "gzip", "zstd" or "" for plain
	block       int          // the size of a block
	bytesRead   atomic.Int64 // of the file

	full    chan []byte
	free    chan []byte
	quit    chan struct{}
	once    sync.Once
	current []byte
	err     error // set before full is closed
}

// startPump detects the compression from the first bytes of r, starts to read, and returns the time in a gzip header.
// size is r's size, or negative if unknown. The pump ends with ctx, even if a read, such as from a terminal, blocks.
func startPump(ctx context.Context, r io.ReadCloser, size int64) (*pump, time.Time, error) {
	p := &pump{ctx: ctx, block: blockSize, full: make(chan []byte, blocks), free: make(chan []byte, blocks), quit: make(chan struct{})}
	for range blocks {
		p.free <- nil
	}
	buffer := bufferSize
	if size >= 0 && size < blockSize { // many small files may be open
		buffer, p.block = int(min(bufferSize, size+1)), int(size+1)
	}
	type beginning struct {
		modTime time.Time
		err     error
	}
	begun := make(chan beginning, 1)
	go func() {
		defer r.Close()
		defer close(p.full)
		in, modTime, closer, err := p.unpack(bufio.NewReaderSize(counted{r, &p.bytesRead}, buffer))
		begun <- beginning{modTime, err}
		if err == nil {
			defer closer()
			p.err = p.run(ctx, in)
		}
	}()
	select {
	case b := <-begun:
		return p, b.modTime, b.err
	case <-ctx.Done():
		return nil, time.Time{}, ctx.Err()
	}
}

// unpack chooses the decompressor by the magic numbers (RFC 1952, RFC 8878), and the decoder of UTF-16 by its byte
// order mark.
func (p *pump) unpack(br *bufio.Reader) (io.Reader, time.Time, func(), error) {
	magic, err := br.Peek(4)
	if err != nil && err != io.EOF {
		return nil, time.Time{}, nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		p.compression, p.block = "gzip", blockSize
		z, err := gzip.NewReader(br)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, time.Time{}, nil, fmt.Errorf("the gzip data is cut off in its header: %w", io.ErrUnexpectedEOF)
		}
		if err != nil {
			return nil, time.Time{}, nil, fmt.Errorf("the gzip data is damaged: %w", err)
		}
		return z, z.ModTime, func() { z.Close() }, nil
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		p.compression, p.block = "zstd", blockSize
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20),
			zstd.WithDecoderMaxMemory(maxTotal))
		if err != nil {
			return nil, time.Time{}, nil, fmt.Errorf("the zstd data is damaged: %w", err)
		}
		return z, time.Time{}, z.Close, nil
	case bytes.HasPrefix(magic, []byte{0xff, 0xfe}), bytes.HasPrefix(magic, []byte{0xfe, 0xff}):
		// Windows PowerShell's > and Out-File write UTF-16.
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(br), time.Time{}, func() {}, nil
	}
	return br, time.Time{}, func() {}, nil
}

func (p *pump) run(ctx context.Context, in io.Reader) error {
	var total int64
	for {
		var block []byte
		select {
		case block = <-p.free:
		case <-p.quit:
			return io.ErrClosedPipe
		case <-ctx.Done():
			return ctx.Err()
		}
		if block == nil {
			block = make([]byte, p.block)
		}
		n, err := readFull(ctx, in, block)
		total += int64(n)
		if total > maxTotal {
			return errTooMuchText
		}
		if n > 0 {
			p.full <- block[:n] // never blocks: the channel has room for all blocks
		}
		if err != nil {
			return err
		}
	}
}

// readFull fills block as far as the input goes. Unlike io.ReadFull it lets the decompressor
// report that data is cut off.
func readFull(ctx context.Context, in io.Reader, block []byte) (n int, err error) {
	for n < len(block) && err == nil {
		var m int
		m, err = in.Read(block[n:])
		n += m
		if err == nil {
			err = ctx.Err()
		}
	}
	return n, err
}

// next returns the previous block to the pump and returns the next one, or the reason why there is none: ctx's if that
// ends during the wait.
func (p *pump) next() ([]byte, error) {
	if p.current != nil {
		p.free <- p.current[:cap(p.current)]
		p.current = nil
	}
	if err := p.ctx.Err(); err != nil { // even if a block is ready
		return nil, err
	}
	select {
	case block, ok := <-p.full:
		if !ok {
			return nil, p.err
		}
		p.current = block
		return block, nil
	case <-p.ctx.Done():
		return nil, p.ctx.Err()
	}
}

// stop ends the goroutine at its next step.
func (p *pump) stop() { p.once.Do(func() { close(p.quit) }) }
