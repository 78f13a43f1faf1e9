package files

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// TestSpool: a stream is read as often as need be, by several readers at a time, however long it is and however it ends.
func TestSpool(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	broken := errors.New("broken")
	for _, size := range []int{0, 1, spoolMemory, spoolMemory + 1, 3 * spoolMemory} {
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(random.Uint32())
		}
		for _, end := range []error{io.EOF, broken} {
			s := newSpool(t.Context(), io.MultiReader(bytes.NewReader(want), iotest.ErrReader(end)), maxSpool)
			var readers [3]io.Reader
			var got [3][]byte
			for i := range readers {
				readers[i] = s.open()
			}
			for open := len(readers); open > 0; {
				i, block := random.IntN(len(readers)), make([]byte, 1+random.IntN(1<<18))
				if readers[i] == nil {
					continue
				}
				n, err := readers[i].Read(block)
				if got[i] = append(got[i], block[:n]...); err == nil {
					continue
				}
				if err != end || !bytes.Equal(got[i], want) {
					t.Errorf("%d bytes and %v, want %d and %v", len(got[i]), err, size, end)
				}
				readers[i], open = nil, open-1
			}
		}
	}
}

// TestSpoolIsBounded: a stream longer than the limit is read once, to its end.
func TestSpoolIsBounded(t *testing.T) {
	for _, most := range []int64{spoolMemory, spoolMemory + 1<<16} {
		s := newSpool(t.Context(), bytes.NewReader(make([]byte, 2*spoolMemory)), most)
		if n, err := io.Copy(io.Discard, s.open()); n != 2*spoolMemory || err != nil {
			t.Errorf("%d bytes are read, and then %v", n, err)
		}
		if _, err := s.open().Read(make([]byte, 1)); err != errOnce {
			t.Errorf("it is read again: %v", err)
		}
	}
}
