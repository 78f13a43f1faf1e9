package tui

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/schedq/schedq/queue/session/board"
)

// TestAsCommand is not a test: it is the program that the tests in this file run.
func TestAsCommand(*testing.T) {
	switch flag.Arg(0) {
	case "fail":
		fmt.Fprintln(os.Stderr, "there is no such pod")
		os.Exit(3)
	case "hang":
		fmt.Println("now for ever")
		time.Sleep(time.Hour)
	case "binary":
		os.Stdout.Write([]byte{0x7f, 'E', 'L', 'F', 0, 1, 2})
	case "flood":
		os.Stdout.Write(bytes.Repeat([]byte("é"), maxOutput))
	case "say":
		fmt.Print(strings.Join(flag.Args()[1:], "|"))
	default:
		return
	}
	os.Exit(0)
}

var machine = Machine{Run: func(ctx context.Context, words []string, out io.Writer) error {
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Stdout, command.Stderr = out, out
	return command.Run()
}}

func does(args ...string) []string {
	return append([]string{os.Args[0], "-test.run=^TestAsCommand$", "--"}, args...)
}

// TestCommandsOfAllKinds: the output of a command is text of limited length, and ends with the
// error of a command that fails.
func TestCommandsOfAllKinds(t *testing.T) {
	said := machine.wrote(t.Context(), does("fail"))
	if !strings.HasPrefix(said, "there is no such pod\n") || !strings.HasSuffix(said, "ended with exit status 3.") {
		t.Errorf("the failed command's output is %q", said)
	}
	if said := machine.wrote(t.Context(), does("binary")); said != "7 bytes of binary output." {
		t.Errorf("the output of binary data is %q", said)
	}
	if said := machine.wrote(t.Context(), does("flood")); !strings.HasSuffix(said, "é\n\n… and 1,048,576 bytes more.") || len(said) > maxOutput+100 {
		t.Errorf("%d bytes of long output are kept, ending with %q", len(said), said[len(said)-60:])
	}
	if said := machine.wrote(t.Context(), []string{"/there/is/no/such/program"}); !strings.Contains(said, "no such file") {
		t.Errorf("the output of a missing program is %q", said)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan string)
	go func() { ended <- machine.wrote(ctx, does("hang")) }()
	stop()
	<-ended // hangs if the command is not stopped
}

// TestWordsAboutAPod: a program gets only names that the API server accepts, and no shell
// interprets them.
func TestWordsAboutAPod(t *testing.T) {
	c := Command{Words: does("say", "{namespace}/{name}", "$(reboot)", "{{}")}
	words, err := c.about(&board.Pod{Key: types.NamespacedName{Namespace: "shop", Name: "web-1"}})
	if err != nil {
		t.Fatal(err)
	}
	if said := machine.wrote(t.Context(), words); said != "shop/web-1|$(reboot)|{{}" {
		t.Errorf("the program's arguments are %q", said)
	}
	for _, bad := range []string{"--kubeconfig=evil", "", "a b", "../x", "日本", strings.Repeat("\u202e", 3)} {
		if words, err := c.about(&board.Pod{Key: types.NamespacedName{Namespace: "shop", Name: bad}}); err == nil {
			t.Errorf("a pod named %q gives the arguments %q", bad, words)
		}
	}
	for _, bad := range [][]string{nil, {""}, {"kubectl", "{pod}"}} {
		if CheckCommand(bad) == nil {
			t.Errorf("%q is accepted as a command", bad)
		}
	}
}
