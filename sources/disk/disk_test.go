package disk_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/schedq/schedq/sources/disk"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %.40q, %v, want %.40q", filepath.Base(path), got, err, want)
	}
}

// names are those of the files in a folder.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// bothWays are the two ways to write a file.
var bothWays = map[string]func(ctx context.Context, path string, opts disk.Options, text string) error{
	"whole": func(ctx context.Context, path string, opts disk.Options, text string) error {
		return disk.WriteBytes(ctx, path, opts, []byte(text))
	},
	"growing": func(ctx context.Context, path string, opts disk.Options, text string) error {
		g, err := disk.Create(ctx, path, opts, func(w io.Writer) error {
			_, err := io.WriteString(w, text[:1])
			return err
		})
		if err != nil {
			return err
		}
		_, err = io.WriteString(g, text[1:])
		return errors.Join(err, g.Close())
	},
}

// TestNothingIsOverwritten: an existing file is refused with a sentence, unless Replace is set. A link is replaced, but
// not its target.
func TestNothingIsOverwritten(t *testing.T) {
	for name, put := range bothWays {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			at := func(name string) string { return filepath.Join(folder, name) }
			write(t, at("old"), "old")
			write(t, at("precious"), "precious")
			for link, to := range map[string]string{"link": "precious", "dangling": "nothing", "into": "."} {
				if err := os.Symlink(to, at(link)); err != nil {
					t.Fatal(err)
				}
			}
			for to, says := range map[string]string{
				"old":       "old exists already: name another file, or replace it with --force",
				"link":      "link is a symbolic link: name the file itself, or replace the link with --force",
				"dangling":  "dangling is a symbolic link",
				"into":      "into is a directory: name a file to write in it",
				"":          " is a directory: name a file to write in it",
				"no/such":   "no/such can't be written: no such file or directory",
				"old/a\x1b": "old/a␛ can't be written: not a directory",
			} {
				for what, err := range map[string]error{"Check": disk.Check(t.Context(), at(to), disk.Options{}), "writing": put(t.Context(), at(to), disk.Options{}, "new")} {
					if err == nil || !strings.Contains(err.Error(), says) {
						t.Errorf("%s of %q: %v, want %s", what, to, err, says)
					}
				}
			}
			for _, to := range []string{"", "into"} {
				if err := put(t.Context(), at(to), disk.Options{Replace: true}, "new"); err == nil {
					t.Errorf("the directory %q was replaced", to)
				}
			}
			holds(t, at("old"), "old")
			for _, to := range []string{"fresh", "old", "link", "dangling"} {
				opts := disk.Options{Replace: to != "fresh"}
				if err := errors.Join(disk.Check(t.Context(), at(to), opts), put(t.Context(), at(to), opts, "new")); err != nil {
					t.Errorf("%s: %v", to, err)
				}
				holds(t, at(to), "new")
				if info, err := os.Lstat(at(to)); err != nil || info.Mode() != 0o600 {
					t.Errorf("%s is %v, %v", to, info.Mode(), err)
				}
			}
			holds(t, at("precious"), "precious")
			if got := fmt.Sprint(names(t, folder)); got != "[dangling fresh into link old precious]" {
				t.Errorf("there are %s", got)
			}
		})
	}
}

// TestOneOfManyWriters: of those who write a file at once one wins, and the others say why not.
func TestOneOfManyWriters(t *testing.T) {
	for name, put := range bothWays {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "a.jsonl")
			failed := make([]error, 16)
			var all sync.WaitGroup
			for i := range failed {
				all.Go(func() { failed[i] = put(t.Context(), path, disk.Options{}, strings.Repeat(fmt.Sprint(i%10), 100_000)) })
			}
			all.Wait()
			won := -1
			for i, err := range failed {
				switch {
				case err == nil && won < 0:
					won = i
				case err == nil:
					t.Errorf("%d and %d won", won, i)
				case !errors.Is(err, fs.ErrExist) || strings.Contains(err.Error(), "\n"):
					t.Errorf("%v", err)
				}
			}
			holds(t, path, strings.Repeat(fmt.Sprint(won%10), 100_000))
			if got := names(t, folder); len(got) != 1 {
				t.Errorf("there are %q", got)
			}
		})
	}
}

// TestAFileThatGrowsIsHeld: whoever writes a file has it until the end, from those who replace it, too.
func TestAFileThatGrowsIsHeld(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.jsonl")
	for _, replace := range []bool{false, true} {
		g, err := disk.Create(t.Context(), path, disk.Options{Replace: replace}, func(w io.Writer) error {
			_, err := io.WriteString(w, "head")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if !disk.WrittenNow(t.Context(), path) {
			t.Error("it is not known that it is being written")
		}
		for _, force := range []bool{false, true} {
			says := path + " is being written by another schedq"
			if err := disk.Check(t.Context(), path, disk.Options{Replace: force}); err == nil || err.Error() != says {
				t.Errorf("Check: %v", err)
			}
			for name, put := range bothWays {
				if err := put(t.Context(), path, disk.Options{Replace: force}, "another"); err == nil || err.Error() != says {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		holds(t, path, "head") // as it comes, not at the end
		if _, err := io.WriteString(g, " and tail"); err != nil || g.Bytes() != 13 {
			t.Errorf("%v, %d bytes", err, g.Bytes())
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		holds(t, path, "head and tail")
		if disk.WrittenNow(t.Context(), path) {
			t.Error("it is still being written")
		}
	}
}

// TestWhatEndsLeavesNothing: what is not finished when its context ends, or by its own fault, was never there.
func TestWhatEndsLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.jsonl")
	ctx, cancel := context.WithCancel(t.Context())
	err := disk.Write(ctx, path, disk.Options{}, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		cancel()
		_, err := io.WriteString(w, "the rest")
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	err = disk.Write(t.Context(), path, disk.Options{}, func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, errors.New("no more is known"))
	})
	if err == nil || err.Error() != path+" can't be written: no more is known" {
		t.Errorf("%v", err)
	}
	if _, err := disk.Create(t.Context(), path, disk.Options{}, func(io.Writer) error { return errors.New("no") }); err == nil {
		t.Error("it was begun")
	}
	if got := names(t, folder); len(got) != 0 {
		t.Errorf("there are %q", got)
	}
}

// TestRead: no more is read than may be, of whatever there is at a path.
func TestRead(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a\x1b.yaml")
	write(t, path, "1234")
	if data, err := disk.Read(t.Context(), path, 4); err != nil || string(data) != "1234" {
		t.Errorf("%q, %v", data, err)
	}
	refuse := func(fs.FileInfo) error { return errors.New("it is not wanted") }
	for what, err := range map[string]error{
		"a␛.yaml is larger than 3 bytes, which is the most that is read of it": reading(t, path, 3),
		" is a directory: name a file in it":                                   reading(t, folder, 3),
		"none: no such file or directory":                                      reading(t, filepath.Join(folder, "none"), 3),
		"it is not wanted":                                                     reading(t, path, 4, refuse),
	} {
		if err == nil || !strings.HasSuffix(err.Error(), what) {
			t.Errorf("%v, want %s", err, what)
		}
	}
}

func reading(t *testing.T, path string, most int64, checks ...func(fs.FileInfo) error) error {
	t.Helper()
	data, err := disk.Read(t.Context(), path, most, checks...)
	if data != nil {
		t.Errorf("%s: %d bytes were read", path, len(data))
	}
	return err
}

// TestLeftBehind: what a program that was killed left behind goes when somebody writes in that folder, and nothing else does.
func TestLeftBehind(t *testing.T) {
	folder := t.TempDir()
	const old, young, held, otherwise = ".part-aaaaaaaaaaaaaaaa", ".part-bbbbbbbbbbbbbbbb", ".part-cccccccccccccccc", ".part-notes"
	growing, err := disk.Create(t.Context(), filepath.Join(folder, held), disk.Options{}, func(io.Writer) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer growing.Close()
	for _, name := range []string{old, young, otherwise, "notes"} {
		write(t, filepath.Join(folder, name), "x")
	}
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{old, held, otherwise, "notes"} {
		if err := os.Chtimes(filepath.Join(folder, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := disk.WriteBytes(t.Context(), filepath.Join(folder, "new"), disk.Options{}, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, folder), []string{young, held, otherwise, "new", "notes"}; !slices.Equal(got, want) {
		t.Errorf("there are %s, want %s", got, want)
	}
}

// TestLost: a file that is removed, renamed or replaced while it grows is lost, and its end says so.
func TestLost(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"removed":               os.Remove,
		"renamed":               func(path string) error { return os.Rename(path, path+".1") },
		"replaced":              func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
		"its folder is removed": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"":                      func(string) error { return nil },
	} {
		path := filepath.Join(t.TempDir(), "folder", "a.jsonl")
		if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		growing, err := disk.Create(t.Context(), path, disk.Options{}, func(io.Writer) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := growing.Lost(); err != nil {
			t.Errorf("%s: %v before", name, err)
		}
		if err := lose(path); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{growing.Lost(), growing.Close()} {
			if errors.Is(err, disk.ErrLost) != (name != "") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestFoldersOfTheProgram: nobody else looks into them, links are left alone.
func TestFoldersOfTheProgram(t *testing.T) {
	home := t.TempDir()
	folder := filepath.Join(home, "schedq")
	if err := errors.Join(os.Mkdir(folder, 0o755), os.Mkdir(filepath.Join(home, "shared"), 0o755), os.Symlink("shared", filepath.Join(home, "link"))); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := disk.Keep(t.Context(), filepath.Join(folder, "lessons.json"), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(names(t, folder)); got != "[lessons.json]" {
		t.Errorf("there are %s", got)
	}
	if err := disk.Folder(t.Context(), filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"schedq": 0o700, "shared": 0o755, "schedq/lessons.json": 0o600} {
		if info, err := os.Stat(filepath.Join(home, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is %v, %v", name, info.Mode(), err)
		}
	}
}

// TestInPlace: where a file that is open has one name only, it is begun under that, and nothing else changes.
func TestInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	head := func(w io.Writer) error { _, err := io.WriteString(w, "head"); return err }
	g, err := disk.GrowInPlace(t.Context(), path, disk.Options{}, head)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := disk.GrowInPlace(t.Context(), path, disk.Options{}, head); err == nil || !strings.Contains(err.Error(), "is being written by another schedq") {
		t.Errorf("%v", err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.GrowInPlace(t.Context(), path, disk.Options{}, head); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("%v", err)
	}
	if g, err = disk.GrowInPlace(t.Context(), path, disk.Options{Replace: true}, head); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "head")
	if _, err := disk.GrowInPlace(t.Context(), path, disk.Options{Replace: true}, func(io.Writer) error { return io.ErrUnexpectedEOF }); err == nil {
		t.Error("it was begun")
	}
	holds(t, path, "head")
}
