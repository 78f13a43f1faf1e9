package command

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedq/schedq/keymap"
	"github.com/schedq/schedq/room"
)

// TestServedScreensAreIsolated: whatever a visitor types, the screen shows nothing of the machine
// and writes nothing to it.
func TestServedScreensAreIsolated(t *testing.T) {
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
			address, _ := openRoom(t, f, t.Output())
			before := filesIn(t, home)
			v := visit(t, address, "eve", true)
			for _, b := range keymap.Default() {
				for _, key := range b.Keys {
					if key == "q" || key == "ctrl+c" { // quits
						continue
					}
					var pressed string
					for each := range strings.SplitSeq(key, " ") {
						pressed += keyBytes(each)
					}
					for _, agree := range []string{"", "\r"} { // to start a what-if, where it is asked
						// Type the path into whatever the key opened, accept it, and close.
						v.press(pressed + agree + paste(secret) + "\r" + escape + escape)
					}
				}
			}
			for _, name := range []string{"apply", "recordings", "suspend", "copy"} {
				v.press(":" + name + "\r" + paste(secret) + "\r" + escape + escape) // in the palette
			}
			v.press("/" + paste("zz-the-end"))
			v.waitFor(t, "zz-the-end")
			v.mu.Lock()
			defer v.mu.Unlock()
			if strings.Contains(v.all.String(), canary) {
				t.Error("the screen shows a file or a variable of the machine")
			}
			if after := filesIn(t, home); !slices.Equal(before, after) {
				t.Errorf("files before: %q, after: %q", before, after)
			}
		})
	}
}

// escape is the escape key in the unambiguous keyboard encoding.
const escape = "\x1b[27u"

// paste returns text as a bracketed paste.
func paste(text string) string { return "\x1b[200~" + text + "\x1b[201~" }

// TestReadCode: a code file has one line.
func TestReadCode(t *testing.T) {
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
	for text, want := range map[string]string{
		"": "the file is empty", " \n": "the file is empty", "monday\nroom": "must have one line", strings.Repeat("x", maxCodeFile+1): "can't read the code",
	} {
		if _, err := readCode(t.Context(), write(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if _, err := readCode(t.Context(), filepath.Join(folder, "none")); err == nil {
		t.Error("a code from a missing file")
	}
	f := serveFlags{codeFile: write("monday-room"), teacherCode: "teach-4-them"}
	if a, err := f.access(t.Context()); a.Code != "monday-room" || a.TeacherCode != "teach-4-them" || err != nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestTeacherPort: the teacher-only port is the one after the visitors', or any other if that is
// taken, on the loopback interface.
func TestTeacherPort(t *testing.T) {
	visitors, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer visitors.Close()
	for range 2 { // the first takes the next port
		teachers, err := (&serveFlags{}).listenTeacher(visitors.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer teachers.Close()
		if hostOf(teachers.Addr()) != "127.0.0.1" {
			t.Errorf("it listens at %s", teachers.Addr())
		}
	}
	if l, err := (&serveFlags{teacherAddress: noTeacherPort}).listenTeacher(visitors.Addr()); l != nil || err != nil {
		t.Errorf("%v, %v", l, err)
	}
}

// TestRoomKey: no other action uses the room's key.
func TestRoomKey(t *testing.T) {
	for _, b := range keymap.Default() {
		if slices.Contains(b.Keys, room.Key) {
			t.Errorf("%s is also %s", room.Key, b.ID)
		}
	}
}

// keyBytes returns what a terminal sends for a key.
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

// filesIn lists a folder.
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
