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
			address := openRoom(t, f, t.Output())
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
		if sshHost(teachers.Addr()) != "127.0.0.1" {
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
