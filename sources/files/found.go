package files

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedq/schedq/sources"
	"github.com/schedq/schedq/sources/disk"
	"github.com/schedq/schedq/sources/lines"
	"github.com/schedq/schedq/sources/ring"
	"github.com/schedq/schedq/sources/ring/remote"
	"github.com/schedq/schedq/sources/schedlog"
)

// Folders and archives are searched for recordings: a must-gather, an export, a node's /var/log. Nothing is unpacked
// to disk, and no link is followed.

const (
	// maxFound limits how many files are looked at.
	maxFound = 20_000
	// maxUnpacked limits how many bytes an archive may unpack to.
	maxUnpacked = 32 << 30
	// peeked is how many bytes of a file in an archive are read to detect its format.
	peeked = 256 << 10
	// maxHeld limits how many bytes of the small files in an archive are kept in memory, so that the archive is not read again
	// for each.
	maxHeld = 64 << 20
	// maxReread limits how many bytes of an archive are read again for the other files.
	maxReread = 256 << 30
)

// place is where a file is, and how it is opened.
type place struct {
	path string
	root string // the path that was named
	// found is true if it was found in a folder or an archive and not named itself.
	found bool
	among *skipped
	// ring is true of a ring's folder, which is one recording. Then opening the place yields no content.
	ring bool
	open func(context.Context) (*lines.Reader, error)
}

// sought describes the files to look for in folders and archives.
type sought struct {
	// is recognises a file by its first bytes.
	is func(ctx context.Context, head []byte) bool
	// what names it in messages: "an audit log".
	what string
	// unlike describes any other file by its first bytes.
	unlike func(head []byte) unlike
	// captures is true if a k8shark archive counts as one file.
	captures bool
}

// recordings returns what Open looks for.
func recordings() sought {
	return sought{captures: true, unlike: unlikeHead, what: "an audit log of kube-apiserver, a log of kube-scheduler or another recording", is: func(ctx context.Context, head []byte) bool {
		r, err := lines.NewSized(ctx, "", time.Time{}, io.NopCloser(bytes.NewReader(head)), int64(len(head)))
		if err != nil {
			return false
		}
		f := &file{reader: r}
		defer func() { f.reader.Close() }()
		return !isMarkdown(head) && f.detect(ctx) == nil && f.format.role != play // nobody named it, and its fences may be of any run
	}}
}

// places returns the named files, and the files sought in the folders and archives among them.
func places(ctx context.Context, paths []string, opts Options, sought sought) ([]place, error) {
	var all []place
	for _, path := range paths {
		s := search{ctx: ctx, root: path, sought: sought, most: maxUnpacked, among: skipped{root: path, what: sought.what}}
		var err error
		switch kind := kindOf(ctx, path); kind {
		case "url":
			all = append(all, place{path: path, root: path, open: func(ctx context.Context) (*lines.Reader, error) { return fetch(ctx, path, opts.Token) }})
			continue
		case "ring":
			all = append(all, ringAt(path))
			continue
		case "folder":
			err = s.folder()
		case "zip":
			err = s.zip()
		case "tar":
			err = s.tar()
		default:
			all = append(all, place{path: path, root: path, open: opener(path, opts.Stdin)})
			continue
		}
		if err != nil {
			return nil, err
		}
		switch {
		case s.among.looked == 0:
			return nil, fmt.Errorf("%s contains no file", sources.Sanitize(path))
		case len(s.all) == 0:
			return nil, s.among.refusal()
		}
		all = append(all, s.all...)
	}
	return all, nil
}

// kindOf recognises folders and archives by their content, never by their names.
func kindOf(ctx context.Context, path string) string {
	if path == "-" {
		return ""
	}
	if remote.Is(path) {
		return "url"
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return ""
	case ring.Is(path):
		return "ring"
	case info.IsDir():
		return "folder"
	case !info.Mode().IsRegular():
		return "" // a pipe is read once
	}
	f, err := disk.Open(ctx, path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	if bytes.HasPrefix(head[:n], []byte("PK\x03\x04")) {
		return "zip"
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return ""
	}
	text, err := unpacked(f, head[:n])
	if err != nil {
		return ""
	}
	n, _ = io.ReadFull(text, head)
	if n == len(head) && bytes.HasPrefix(head[257:], []byte("ustar")) {
		return "tar"
	}
	return ""
}

// unpacked returns f's content, decompressed if its head is gzip's.
func unpacked(f io.Reader, head []byte) (io.Reader, error) {
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		return gzip.NewReader(f)
	}
	return f, nil
}

// search looks for the files sought in a folder or an archive.
type search struct {
	ctx    context.Context
	root   string
	sought sought
	most   int64 // limits how many bytes an archive may unpack to
	among  skipped
	all    []place

	archived bool  // it is an archive
	held     int64 // bytes of its small files that are kept
	at       int64 // bytes of a tar that are before the file looked at
	reread   int64 // bytes of it that are read again
}

// look adds the file of that name within the root if its first bytes show that it is sought. A small file in an archive, which
// was modified at that time, is kept.
func (s *search) look(name string, modTime time.Time, open func(context.Context) (*lines.Reader, error), head io.Reader) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.among.looked++; s.among.looked > maxFound {
		return fmt.Errorf("%s contains more than %d files: name those to read", sources.Sanitize(s.root), maxFound)
	}
	first, err := io.ReadAll(io.LimitReader(head, peeked))
	switch {
	case err != nil:
		s.among.add("unreadable", name)
	case len(first) > 0 && s.sought.is(s.ctx, first):
		if size := int64(len(first)); s.archived && size < peeked && s.held+size <= maxHeld {
			s.held += size
			open = keptFile(string(sources.Sanitize(s.root+"/"+name)), modTime, first)
		} else if s.reread += s.at; s.reread > maxReread {
			return fmt.Errorf("%s contains too many large files to be read where they are: unpack it", sources.Sanitize(s.root))
		}
		s.all = append(s.all, place{path: filepath.Join(s.root, name), root: s.root, found: true, among: &s.among, open: open})
	default:
		s.among.add(s.sought.unlike(first).reason, name)
	}
	return nil
}

// keptFile returns a function that opens a file that is kept in memory.
func keptFile(name string, modTime time.Time, text []byte) func(context.Context) (*lines.Reader, error) {
	text = bytes.Clone(text) // without room to grow
	return func(ctx context.Context) (*lines.Reader, error) {
		return lines.NewSized(ctx, name, modTime, io.NopCloser(bytes.NewReader(text)), int64(len(text)))
	}
}

// folder searches a folder and those below it.
func (s *search) folder() error {
	return filepath.WalkDir(s.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if path == s.root {
				return fmt.Errorf("%s can't be read: %w", sources.Sanitize(path), err)
			}
			s.among.looked++
			s.among.add("unreadable", path)
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		name, _ := filepath.Rel(s.root, path)
		f, err := disk.Open(s.ctx, path)
		if err != nil {
			s.among.looked++
			s.among.add("unreadable", name)
			return nil
		}
		defer f.Close()
		return s.look(name, time.Time{}, func(ctx context.Context) (*lines.Reader, error) { return lines.Open(ctx, path, nil) }, f)
	})
}

// inside returns an error if a name in an archive leads out of it. schedq writes nothing, but such an archive is
// malicious.
func (s *search) inside(name string) error {
	if filepath.IsAbs(name) || strings.HasPrefix(name, "/") || slices.Contains(strings.FieldsFunc(name, func(c rune) bool { return c == '/' || c == '\\' }), "..") {
		return fmt.Errorf("%s: the name \"%.80s\" in it leads out of the archive", sources.Sanitize(s.root), sources.Sanitize(name))
	}
	return nil
}

// zip searches a zip archive.
func (s *search) zip() error {
	z, err := zip.OpenReader(s.root)
	if err != nil {
		return fmt.Errorf("%s: the zip archive can't be read: %w", sources.Sanitize(s.root), err)
	}
	defer z.Close()
	if s.sought.captures && slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == captureName }) {
		s.among.looked = len(z.File)
		s.all = []place{{path: s.root, root: s.root, open: func(ctx context.Context) (*lines.Reader, error) { return openCapture(ctx, s.root, s.most) }}}
		return nil
	}
	later, err := zip.NewReader(reopened(s.root), size(s.root))
	if err != nil {
		return fmt.Errorf("%s: the zip archive can't be read: %w", sources.Sanitize(s.root), err)
	}
	s.archived = true
	rest := uint64(s.most)
	for i, entry := range z.File {
		if err := s.inside(entry.Name); err != nil {
			return err
		}
		if entry.UncompressedSize64 > rest {
			return s.tooMuch()
		}
		rest -= entry.UncompressedSize64
		if !entry.Mode().IsRegular() {
			continue
		}
		r, err := entry.Open()
		if err != nil {
			s.among.looked++
			s.among.add("unreadable", entry.Name)
			continue
		}
		err = s.look(entry.Name, entry.Modified, func(ctx context.Context) (*lines.Reader, error) { return openZipped(ctx, s.root, later.File[i]) }, r)
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *search) tooMuch() error { return tooMuch(s.root, s.most) }

func tooMuch(path string, most int64) error {
	return fmt.Errorf("%s unpacks to more than %s: unpack the files to read", sources.Sanitize(path), resource.NewQuantity(most, resource.BinarySI))
}

func openZipped(ctx context.Context, path string, entry *zip.File) (*lines.Reader, error) {
	r, err := entry.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %s in it can't be read: %w", sources.Sanitize(path), sources.Sanitize(entry.Name), err)
	}
	return lines.New(ctx, string(sources.Sanitize(path+"/"+entry.Name)), entry.Modified, r)
}

// reopened reads the file at a path, which it opens for each read: nobody has to close it.
type reopened string

// ReadAt implements io.ReaderAt.
func (r reopened) ReadAt(p []byte, at int64) (int, error) {
	f, err := disk.Open(context.Background(), string(r))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.ReadAt(p, at)
}

// size returns the size of the file at a path, or 0.
func size(path string) int64 {
	if info, err := os.Stat(path); err == nil {
		return info.Size()
	}
	return 0
}

// within closes a file in an archive, and the archive.
type within struct {
	io.ReadCloser
	archive io.Closer
}

// Close implements io.Closer.
func (w within) Close() error { return errors.Join(w.ReadCloser.Close(), w.archive.Close()) }

// tar searches a tar archive, plain or compressed with gzip.
func (s *search) tar() error {
	f, archive, unpacked, err := openTar(s.ctx, s.root, s.most)
	if err != nil {
		return err
	}
	defer f.Close()
	s.archived = true
	for i := 0; ; i++ {
		entry, err := archive.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, errUnpacked):
			return s.tooMuch()
		case err != nil:
			return fmt.Errorf("%s: the tar archive is damaged after %d files: %w", sources.Sanitize(s.root), i, err)
		}
		if err := s.inside(entry.Name); err != nil {
			return err
		}
		if entry.Typeflag != tar.TypeReg {
			continue
		}
		s.at = s.most - unpacked.left
		if err := s.look(entry.Name, entry.ModTime, func(ctx context.Context) (*lines.Reader, error) { return openTarred(ctx, s.root, s.most, i) }, archive); err != nil {
			return err
		}
	}
}

var errUnpacked = errors.New("the archive unpacks to too much")

// bounded fails once too much was read.
type bounded struct {
	from io.Reader
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errUnpacked
	}
	return n, err
}

// openTar opens a tar archive that unpacks to at most that many bytes.
func openTar(ctx context.Context, path string, most int64) (io.Closer, *tar.Reader, *bounded, error) {
	f, err := disk.Open(ctx, path)
	if err != nil {
		return nil, nil, nil, err
	}
	head := make([]byte, 2)
	_, _ = io.ReadFull(f, head)
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		var text io.Reader
		if text, err = unpacked(f, head); err == nil {
			content := &bounded{text, most}
			return f, tar.NewReader(content), content, nil
		}
	}
	f.Close()
	return nil, nil, nil, fmt.Errorf("%s can't be read: %w", sources.Sanitize(path), err)
}

func openTarred(ctx context.Context, path string, most int64, i int) (*lines.Reader, error) {
	f, archive, _, err := openTar(ctx, path, most)
	if err != nil {
		return nil, err
	}
	var entry *tar.Header
	for range i + 1 {
		if entry, err = archive.Next(); err != nil {
			f.Close()
			return nil, fmt.Errorf("%s changed while schedq read it: %w", sources.Sanitize(path), err)
		}
	}
	return lines.New(ctx, string(sources.Sanitize(path+"/"+entry.Name)), entry.ModTime, within{io.NopCloser(archive), f})
}

// withoutLeftOut returns the files that were not left out, and notices about the others. It fails if none remains.
func withoutLeftOut(all []*file) (read []*file, notices []string, err error) {
	for _, f := range all {
		if f.leftOut == nil {
			read = append(read, f)
			continue
		}
		err = f.leftOut
		_, other := schedlog.WhyOther(err)
		if f.place.among != nil {
			f.place.among.leave(relative(f.place), err)
			err = f.place.among.refusal()
		}
		if !errors.Is(f.leftOut, schedlog.ErrOther) || f.place.among == nil && !other {
			notices = append(notices, fmt.Sprintf("%v: the file is left out", f.leftOut))
		}
	}
	if len(read) == 0 {
		return nil, nil, err
	}
	return read, append(notices, aboutFolders(read)...), nil
}

// relative returns the name of a file within its folder or archive.
func relative(p place) string {
	if name, err := filepath.Rel(p.root, p.path); err == nil {
		return name
	}
	return p.path
}

// aboutFolders returns a notice for each folder and archive of which files are skipped.
func aboutFolders(files []*file) (notices []string) {
	var listed []*skipped
	for _, f := range files {
		if among := f.place.among; among != nil && !slices.Contains(listed, among) {
			listed = append(listed, among)
			if text := among.notice(); text != "" {
				notices = append(notices, text)
			}
		}
	}
	return notices
}
