package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/schedq/schedq/sources"
)

// hostile is a name with control, bidirectional and invisible characters.
const hostile = "ev\x1b[2J\u009b31m\u202e\u200b\x07\x7fil"

// checkSanitized executes a command line and checks that its output is sanitized.
func checkSanitized(t *testing.T, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var stdout, stderr output
	run(ctx, args, strings.NewReader(""), &stdout, &stderr)
	for name, out := range map[string]string{"output": stdout.String(), "error": stderr.String()} {
		for line := range strings.Lines(out) {
			line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", " ")
			if len(line) < sources.MaxText && string(sources.Sanitize(line)) != line {
				t.Errorf("schedq %q: standard %s has %q", args, name, line)
				break
			}
		}
	}
}

// useHostileFolder runs the test in a folder named hostile that contains files of that name.
func useHostileFolder(t *testing.T) (trace string) {
	dir := filepath.Join(t.TempDir(), hostile)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Skip("the file system rejects such names: ", err)
	}
	t.Chdir(dir)
	for _, variable := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(variable, dir)
	}
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	trace = hostile + ".jsonl"
	for name, text := range map[string]string{hostile: "no recording", trace: `{"schedq":"trace","version":1}
{"time":"2026-11-21T10:00:01Z","mark":{"text":"here"}}
`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return trace
}

// TestHostileArguments: the names of arguments, flags and files are sanitized.
func TestHostileArguments(t *testing.T) {
	trace := useHostileFolder(t)
	checkSanitized(t, hostile)
	checkSanitized(t, hostile+"-missing")
	checkSanitized(t, "--"+hostile)
	checkSanitized(t, "help", hostile)
	checkSanitized(t, "completion", hostile)
	checkSanitized(t, "__complete", hostile, "")
	checkSanitized(t, "config", "validate", hostile)
	for _, command := range newRoot().Commands() {
		name := command.Name()
		if name == "notes" { // has no arguments and does not end
			continue
		}
		for _, args := range [][]string{
			{hostile}, {"no-such-" + hostile}, {trace}, {hostile, trace}, {trace, hostile}, {"--" + hostile}, {"-" + hostile}, {"-" + hostile, trace},
			{hostile, "-o", hostile}, {trace, "-o", "/" + hostile + "/" + hostile}, {"--output", hostile},
		} {
			checkSanitized(t, append([]string{name}, args...)...)
		}
		command.Flags().VisitAll(func(f *pflag.Flag) {
			flag := []string{name, "--" + f.Name + "=" + hostile}
			if name == "serve" && f.Name != "listen" {
				flag = append(flag, "--listen", "127.0.0.1:0")
			}
			checkSanitized(t, flag...)
			if testing.Short() {
				return
			}
			checkSanitized(t, append(flag, trace)...)
			checkSanitized(t, append(flag, hostile, trace)...)
		})
	}
}

// TestHostileEnvironment: the values of environment variables are sanitized.
func TestHostileEnvironment(t *testing.T) {
	trace := useHostileFolder(t)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "KUBECONFIG", "SCHEDQ_CONFIG", "TERM", "KUBERNETES_MASTER"} {
		values := []string{hostile, "/" + hostile, filepath.Join(dir, hostile)}
		if testing.Short() {
			values = values[:1]
		}
		for _, value := range values {
			t.Run(fmt.Sprintf("%s=%q", variable, value), func(t *testing.T) {
				t.Setenv(variable, value)
				for _, args := range [][]string{{}, {"config"}, {"watch"}, {"watch", trace}, {"replay", trace}, {"attach"}, {"record", "-o", "x"}, {"explain", "p"}, {"learn"}} {
					checkSanitized(t, args...)
				}
			})
		}
	}
}
