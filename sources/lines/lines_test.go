package lines

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func gzipped(t testing.TB, text string, at time.Time) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.ModTime = at
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t testing.TB, text string) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll([]byte(text), nil)
}

// readAll returns the lines, whether the last was cut, and the error that ended them. It is strict.
func readAll(data []byte) (got []string, cut bool, err error) {
	r, err := New(context.Background(), "f", time.Time{}, io.NopCloser(bytes.NewReader(data)))
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	r.Strict()
	for {
		line, err := r.Next()
		if err == io.EOF {
			return got, r.Cut(), nil
		}
		if err != nil {
			return got, false, err
		}
		got = append(got, string(line))
	}
}

func TestPackings(t *testing.T) {
	long := strings.Repeat("x", blockSize-1)
	for _, c := range []struct {
		name, text string
		want       []string
		cut        bool
	}{
		{"two lines", "a\nb\n", []string{"a", "b"}, false},
		{"cut", "a\nb", []string{"a", "b"}, true},
		{"empty lines", "\n\na\n", []string{"", "", "a"}, false},
		{"carriage returns", "a\r\nb\r\n", []string{"a", "b"}, false},
		{"byte order mark", "\xef\xbb\xbfa\n", []string{"a"}, false},
		{"cut in a character", "a\n\xe2\x82", []string{"a", "\xe2\x82"}, true},
		{"block", long + "\nb\n", []string{long, "b"}, false},
		{"over blocks", long + long + "y\nb\n", []string{long + long + "y", "b"}, false},
		{"many blocks", strings.Repeat(long+"\n", 10), []string{long, long, long, long, long, long, long, long, long, long}, false},
	} {
		for packing, data := range map[string][]byte{"plain": []byte(c.text), "gzip": gzipped(t, c.text, time.Time{}),
			"zstd": zstandard(t, c.text), "gzip members": append(gzipped(t, c.text[:1], time.Time{}), gzipped(t, c.text[1:], time.Time{})...)} {
			t.Run(c.name+"/"+packing, func(t *testing.T) {
				got, cut, err := readAll(data)
				if err != nil || cut != c.cut || strings.Join(got, "|") != strings.Join(c.want, "|") {
					t.Errorf("%d lines, cut %v, %v", len(got), cut, err)
				}
			})
		}
	}
}

// TestUTF16: output of Windows PowerShell's > is decoded, in either byte order, across block boundaries, and truncated in
// the middle of a character.
func TestUTF16(t *testing.T) {
	wide := strings.Repeat("жx𝄞", blockSize/4)
	for name, order := range map[string]binary.AppendByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian} {
		data := []byte(name)
		for _, unit := range utf16.Encode([]rune("a\r\n" + wide + "\r\nb")) {
			data = order.AppendUint16(data, unit)
		}
		got, cut, err := readAll(data)
		if err != nil || !cut || strings.Join(got, "|") != "a|"+wide+"|b" {
			t.Errorf("%x: %d lines, cut %v, %v", name, len(got), cut, err)
		}
		if got, cut, err = readAll(data[:9]); err != nil || !cut || strings.Join(got, "|") != "a|\ufffd" {
			t.Errorf("%x cut: %q, cut %v, %v", name, got, cut, err)
		}
	}
}

func TestErrors(t *testing.T) {
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "line %d %x\n", i, i*i*7919)
	}
	text := b.String()
	packed, packedZ := gzipped(t, text, time.Time{}), zstandard(t, text)
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "f is empty"},
		{"empty gzip", gzipped(t, "", time.Time{}), "f is empty"},
		{"nul", []byte("a\nb\x00c\n"), "f:2: the line is binary"},
		{"latin-1", []byte("a\n\xe4h\n"), "f:2: the line is binary"},
		{"elf", []byte("\x7fELF\x02\x01\x01\x00\x00"), "f:1: the line is binary"},
		{"gzip cut in its header", packed[:5], "f: the gzip data is cut off in its header"},
		{"gzip cut half-way", packed[:len(packed)/2], "f: the gzip data is cut off after line 2"},
		{"gzip cut in its checksum", packed[:len(packed)-3], "f: the gzip data is cut off after line 50000"},
		{"gzip damaged", append(append([]byte{}, packed[:len(packed)-8]...), 0, 0, 0, 0, 0, 0, 0, 0), "f: the gzip data is damaged after line"},
		{"zstd cut half-way", packedZ[:len(packedZ)/2], "f: the zstd data is cut off after line"},
		{"zstd damaged", append([]byte{0x28, 0xb5, 0x2f, 0xfd}, "rubbish rubbish"...), "f: the zstd data is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readAll(c.data)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// endless is a line that does not end; it tells how much of it was asked for.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	e.read.Add(int64(len(p)))
	return len(p), nil
}

func TestLongLine(t *testing.T) {
	in := &endless{}
	r, err := New(context.Background(), "f", time.Time{}, io.NopCloser(io.MultiReader(strings.NewReader("short\n"), in)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Strict()
	if line, err := r.Next(); err != nil || string(line) != "short" {
		t.Fatalf("%q %v", line, err)
	}
	if _, err := r.Next(); err == nil || err.Error() != "f:2: the line is longer than 16 MiB" {
		t.Errorf("%v", err)
	}
	if n := in.read.Load(); n > MaxLine+10*blockSize {
		t.Errorf("%d bytes were read", n)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := New(ctx, "f", time.Time{}, io.NopCloser(&endless{}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	if _, err := r.Next(); !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "longer") {
		t.Errorf("%v", err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	file := filepath.Join(dir, "a.log")
	if err := os.WriteFile(file, gzipped(t, "a\n", at), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(context.Background(), file, nil)
	if err != nil || !r.ModTime().Equal(at) || r.Name() != file {
		t.Fatalf("%v, from %v", err, r.ModTime())
	}
	r.Close()
	r.Close()
	missing := filepath.Join(dir, "no\x1b[31mne")
	if _, err := Open(context.Background(), missing, nil); !errors.Is(err, os.ErrNotExist) ||
		!strings.HasSuffix(err.Error(), "no␛[31mne: no such file or directory") {
		t.Errorf("%v", err)
	}
	if _, err := Open(context.Background(), dir, nil); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("%v", err)
	}
	r, err = Open(context.Background(), "-", strings.NewReader("a\nb"))
	if err != nil || r.Name() != "standard input" {
		t.Fatal(err)
	}
	defer r.Close()
	for range 2 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.CutOff(); err != nil {
		t.Error(err)
	}
	if got := r.Notices(at); len(got) != 1 || got[0] != "standard input: line 2 is cut off; the recording ends at 2026-11-21 10:00:00.000 UTC" {
		t.Error(got)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Add(gzipped(f, "a\nb\n", time.Time{}))
	f.Add(zstandard(f, "a\nb\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _, err := readAll(data)
		if err != nil && (!strings.HasPrefix(err.Error(), "f") || len(err.Error()) > 1000) {
			t.Errorf("%q", err)
		}
		for _, line := range got {
			if strings.ContainsAny(line, "\n\x00") {
				t.Errorf("%q", line)
			}
		}
	})
}

// TestPlain: wherever a NUL or a byte beyond ASCII is in a block, it is found, and only that is.
func TestPlain(t *testing.T) {
	for size := range 100 {
		block := []byte(strings.Repeat("\x01~\x7f", 40)[:size])
		if !plain(block, false) || !isASCII(block) {
			t.Errorf("%d bytes of ASCII are not plain", size)
		}
		for i := range block {
			was := block[i]
			for _, odd := range []byte{0, 0x80, 0x81, 0xff} {
				block[i] = odd
				if isASCII(block) || plain(block, false) && (odd < 0xc0 || i != size-1) {
					t.Errorf("of %d bytes %#x at %d is not found", size, odd, i)
				}
			}
			block[i] = was
		}
	}
}
