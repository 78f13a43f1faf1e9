package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/room"
)

// openRoom opens a room as schedq serve does, on the loopback interface, and returns its address.
func openRoom(t testing.TB, f serveFlags, log io.Writer) string {
	t.Helper()
	f.code, f.teacherCode, f.memory = "monday-room", "teach-4-them", "4Gi"
	f.sessions, f.idle = 60, time.Hour
	f.hostKey = filepath.Join(t.TempDir(), "hostkey")
	if f.lesson == "" {
		f.lesson = "1"
	}
	config, err := f.config(context.Background(), log)
	if err != nil {
		t.Fatal(err)
	}
	config.Limits.Keys, config.Limits.Input = 1e6, 1<<20 // the tests type fast
	r, err := room.New(config)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	closed := make(chan error, 1)
	go func() { closed <- r.Serve(ctx, l, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// visitor is a real SSH client with a screen of 80 by 24.
type visitor struct {
	client *ssh.Client
	keys   io.Writer
	mu     sync.Mutex
	all    bytes.Buffer  // that was written to the screen, if kept
	kept   bool          //
	wrote  chan struct{} // that something was
}

func visit(t testing.TB, address, name string, keep bool) *visitor {
	t.Helper()
	client, err := ssh.Dial("tcp", address, &ssh.ClientConfig{
		User: name, HostKeyCallback: ssh.InsecureIgnoreHostKey(),
		Auth: []ssh.AuthMethod{ssh.KeyboardInteractive(func(_, _ string, q []string, _ []bool) ([]string, error) {
			return slices.Repeat([]string{"monday-room"}, len(q)), nil
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{client: client, kept: keep, wrote: make(chan struct{}, 1)}
	session.Stdout = v
	if v.keys, err = session.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := session.RequestPty("xterm-256color", 24, 80, nil); err != nil {
		t.Fatal(err)
	}
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	return v
}

// Write takes in what comes on the screen.
func (v *visitor) Write(p []byte) (int, error) {
	v.mu.Lock()
	if v.kept {
		v.all.Write(p)
	}
	v.mu.Unlock()
	select {
	case v.wrote <- struct{}{}:
	default:
	}
	return len(p), nil
}

// press presses keys.
func (v *visitor) press(keys string) { _, _ = io.WriteString(v.keys, keys) }

// screen waits for something to be written.
func (v *visitor) screen(t testing.TB) {
	t.Helper()
	select {
	case <-v.wrote:
	case <-time.After(30 * time.Second):
		v.mu.Lock()
		defer v.mu.Unlock()
		t.Fatalf("nothing comes on the screen after %q", v.all.Bytes()[max(0, v.all.Len()-2000):])
	}
}

// sees waits until text was written.
func (v *visitor) sees(t testing.TB, text string) {
	t.Helper()
	for {
		v.mu.Lock()
		seen := bytes.Contains(v.all.Bytes(), []byte(text))
		v.mu.Unlock()
		if seen {
			return
		}
		v.screen(t)
	}
}

// Whatever is pressed and typed on a screen that is served, it shows nothing of the machine and leaves nothing on it.
func TestServedScreensReachNothingOfTheMachine(t *testing.T) {
	const canary = "canary-7f3a"
	home := t.TempDir()
	secret := filepath.Join(home, "secret.yaml")
	for path, text := range map[string]string{
		secret: "{apiVersion: v1, kind: Pod, metadata: {name: " + canary + "}, spec: {containers: [{name: c, image: i}]}}", filepath.Join(home, "kubeconfig"): "current-context: " + canary,
		filepath.Join(home, "config.yaml"): "theme: " + canary,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMPDIR"} {
		t.Setenv(name, home)
	}
	t.Setenv("KUBECONFIG", filepath.Join(home, "kubeconfig"))
	t.Setenv("SCHEDQ_CONFIG", filepath.Join(home, "config.yaml"))
	t.Setenv("SECRET", canary)
	t.Chdir(home)

	for _, f := range []serveFlags{{lesson: "1"}, {recording: "workshop"}, {play: true}} {
		t.Run(fmt.Sprintf("lesson %s recording %s play %t", f.lesson, f.recording, f.play), func(t *testing.T) {
			address := openRoom(t, f, io.Discard)
			before := filesIn(t, home)
			v := visit(t, address, "eve", true)
			for _, b := range keymap.Default() {
				for _, key := range b.Keys {
					if key == "q" || key == "ctrl+c" { // they leave
						continue
					}
					// The path goes into whatever the key opens, which then is accepted, and closed.
					v.press(keyBytes(key) + paste(secret) + "\r" + escape + escape)
				}
			}
			for _, name := range []string{"apply", "recordings", "suspend", "copy"} {
				v.press(":" + name + "\r" + paste(secret) + "\r" + escape + escape) // by the palette
			}
			v.press("/" + paste("zz-the-end"))
			v.sees(t, "zz-the-end")
			v.mu.Lock()
			defer v.mu.Unlock()
			if strings.Contains(v.all.String(), canary) {
				t.Error("what is in a file of the machine, or in its environment, is shown")
			}
			if after := filesIn(t, home); !slices.Equal(before, after) {
				t.Errorf("there were %q, and now there are %q", before, after)
			}
		})
	}
}

// escape is the key, as a terminal sends it that tells it from the beginning of another.
const escape = "\x1b[27u"

// paste is text that is pasted.
func paste(text string) string { return "\x1b[200~" + text + "\x1b[201~" }

// A code from a file is its one line.
func TestCodesFromFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(text string) string {
		path := filepath.Join(folder, "code")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if code, err := readCode(t.Context(), write("  monday-room \r\n\n")); code != "monday-room" || err != nil {
		t.Errorf("%q, %v", code, err)
	}
	for text, says := range map[string]string{
		"": "holds no code", " \n": "holds no code", "monday\nroom": "holds more than a code", strings.Repeat("x", maxCode+1): "the code can't be read",
	} {
		if _, err := readCode(t.Context(), write(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if _, err := readCode(t.Context(), filepath.Join(folder, "none")); err == nil {
		t.Error("a file that is not there holds a code")
	}
	f := serveFlags{codeFile: write("monday-room"), teacherCode: "teach-4-them"}
	if a, err := f.access(t.Context()); a.Code != "monday-room" || a.TeacherCode != "teach-4-them" || err != nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// The teacher's door is next to the visitors', on this machine alone, or anywhere if that is taken.
func TestTheTeachersDoorIsNextToTheVisitors(t *testing.T) {
	visitors, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer visitors.Close()
	for range 2 { // the second time, the first has it
		teachers, err := (&serveFlags{}).teachersDoor(visitors.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer teachers.Close()
		if host(teachers.Addr()) != "127.0.0.1" {
			t.Errorf("others reach it at %s", teachers.Addr())
		}
	}
	if l, err := (&serveFlags{teachers: noDoor}).teachersDoor(visitors.Addr()); l != nil || err != nil {
		t.Errorf("%v, %v", l, err)
	}
}

// The room's key means nothing else on what it serves.
func TestTheRoomsKeyIsItsAlone(t *testing.T) {
	for _, b := range keymap.Default() {
		if slices.Contains(b.Keys, room.Key) {
			t.Errorf("%s is %s, too", room.Key, b.ID)
		}
	}
}

// keyBytes is what a terminal sends for a key.
func keyBytes(key string) string {
	named := map[string]string{
		"space": " ", "enter": "\r", "tab": "\t", "esc": "\x1b", "backspace": "\x7f", "up": "\x1b[A", "down": "\x1b[B",
		"right": "\x1b[C", "left": "\x1b[D", "pgup": "\x1b[5~", "pgdown": "\x1b[6~", "home": "\x1b[H", "end": "\x1b[F", "f5": "\x1b[15~",
	}
	if letter, ok := strings.CutPrefix(key, "ctrl+"); ok && len(letter) == 1 {
		return string(letter[0] & 0x1f)
	}
	if bytes, ok := named[key]; ok {
		return bytes
	}
	if len(key) == 1 {
		return key
	}
	return ""
}

// filesIn lists what is in a folder.
func filesIn(t *testing.T, folder string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A few at once: what fifty take, BenchmarkRoom tells.
func TestARoomKeepsUp(t *testing.T) {
	f := figuresOf(t, serveFlags{}, "", 6, 10)
	t.Log(f)
	if f.median > time.Second {
		t.Errorf("a key takes %s", f.median)
	}
	if f.memory > 20<<20 {
		t.Errorf("a session takes %d MB", f.memory>>20)
	}
}

// BenchmarkRoom has fifty people press a key each half second, and prints how long the screen takes and what a
// session takes of the memory. Their clients run in the same process and are part of both figures.
func BenchmarkRoom(b *testing.B) {
	for _, kind := range []struct {
		name  string
		shown serveFlags
		first string // what all press at first
	}{
		{"lesson", serveFlags{lesson: "1"}, ""},
		{"recording", serveFlags{recording: "lively-nopop"}, ""},
		{"what-if", serveFlags{recording: "lively-nopop"}, "ws"},
	} {
		b.Run(kind.name, func(b *testing.B) {
			for b.Loop() {
				f := figuresOf(b, kind.shown, kind.first, 50, 40)
				b.ReportMetric(float64(f.median.Microseconds())/1000, "ms/median")
				b.ReportMetric(float64(f.late.Microseconds())/1000, "ms/p95")
				b.ReportMetric(float64(f.memory)/(1<<20), "MB/session")
			}
			b.ReportMetric(0, "ns/op") // says nothing: people are waited for
		})
	}
}

// figures of a room: from a key to the first of the frame at the median and at 95 of 100, and bytes of memory for
// each session.
type roomFigures struct {
	visitors, keys int
	median, late   time.Duration
	memory         int64
}

func (f roomFigures) String() string {
	return fmt.Sprintf("%d sessions, %d keys: %s from key to frame at the median, %s at 95 of 100; %.1f MB a session", f.visitors, f.keys,
		f.median.Round(100*time.Microsecond), f.late.Round(100*time.Microsecond), float64(f.memory)/(1<<20))
}

// figuresOf measures a room of so many visitors who press so many keys each, after those of first.
func figuresOf(t testing.TB, f serveFlags, first string, visitors, keys int) roomFigures {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	address := openRoom(t, f, io.Discard)
	visit(t, address, "first", false).screen(t) // has what all share made
	before := memory()
	all := make([]*visitor, visitors)
	for i := range all {
		all[i] = visit(t, address, fmt.Sprint("visitor-", i), false)
	}
	took := make([][]time.Duration, visitors)
	var done sync.WaitGroup
	for i, v := range all {
		done.Go(func() {
			v.screen(t)
			v.press(first)
			pause := 500 * time.Millisecond
			beat := time.NewTicker(pause)
			defer beat.Stop()
			time.Sleep(pause * time.Duration(i) / time.Duration(visitors)) // not all in the same moment
			for k := range keys {
				<-beat.C
				select { // what came of itself, such as the timer
				case <-v.wrote:
				default:
				}
				began := time.Now()
				v.press([]string{"?", "\x03"}[k%2]) // the help opens, and closes
				select {
				case <-v.wrote:
					took[i] = append(took[i], time.Since(began))
				case <-time.After(30 * time.Second):
					t.Errorf("key %d of visitor %d comes to nothing", k, i)
					return
				}
			}
		})
	}
	done.Wait()
	each := slices.Concat(took...)
	slices.Sort(each)
	if len(each) == 0 {
		t.Fatal("nobody saw anything")
	}
	result := roomFigures{visitors: visitors, keys: len(each), median: each[len(each)/2], late: each[len(each)*95/100]}
	result.memory = (memory() - before) / int64(visitors)
	for _, v := range all {
		_ = v.client.Close()
	}
	return result
}

// memory is what the process holds after all that it can give back: heap and stacks.
func memory() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
