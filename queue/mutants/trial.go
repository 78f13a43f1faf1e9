package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
)

// verdict is what became of a mistake.
type verdict int

const (
	lives   verdict = iota // no test noticed it
	killed                 // a test failed, or took so long that it counts as one that hangs
	invalid                // it does not compile
)

// suite is a package whose tests are run, and the arguments they get.
type suite struct {
	of     string
	args   []string
	binary string        // with all mistakes asleep
	limit  time.Duration // of one run
}

// trial runs the tests of suites on each mistake of dir.
type trial struct {
	dir      string
	suites   []suite
	overlays overlays
}

// A mistake may make the tests slow on a machine that does other work as well before it counts as one that hangs.
const (
	slower    = 8
	leastTime = 20 * time.Second
)

// prepare builds the tests with all mistakes asleep, and runs them once: they must pass, and how long they take says when one hangs.
func (t *trial) prepare(ctx context.Context, all []mistake) error {
	overlay, err := t.overlays.sleeping(all)
	if err != nil {
		return err
	}
	for i := range t.suites {
		s := &t.suites[i]
		if s.binary, err = t.compile(ctx, s.of, overlay); err != nil {
			return err
		}
		began := time.Now()
		if said, err := s.run(ctx, s.binary, -1); err != nil {
			return fmt.Errorf("the tests of %s do not pass without a mistake: %w\n%s", s.of, err, said)
		}
		s.limit = max(leastTime, slower*time.Since(began))
	}
	return nil
}

// compile builds the test binary of a package.
func (t *trial) compile(ctx context.Context, of, overlay string) (string, error) {
	binary := filepath.Join(filepath.Dir(overlay), filepath.Base(of)+".test")
	said, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, of).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go test -c %s: %w\n%s", of, err, said)
	}
	return binary, nil
}

// all tries the mistakes that are drawn, by their numbers, several at once, and prints those that live.
func (t *trial) all(ctx context.Context, all []mistake, drawn []int, jobs int) ([]verdict, error) {
	verdicts := make([]verdict, len(drawn))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(jobs)
	for k, i := range drawn {
		group.Go(func() (err error) {
			if all[i].asleep == nil {
				verdicts[k], err = t.alone(ctx, all[i])
			} else {
				verdicts[k] = t.wake(ctx, i)
			}
			if verdicts[k] == lives && err == nil {
				fmt.Printf("%s:%d%s%s\n", all[i].file, all[i].line, livesMark, all[i].name)
			}
			return err
		})
	}
	return verdicts, group.Wait()
}

// wake runs the tests with mistake i of the prepared binaries awake.
func (t *trial) wake(ctx context.Context, i int) verdict {
	for _, s := range t.suites {
		if _, err := s.run(ctx, s.binary, i); err != nil {
			return killed
		}
	}
	return lives
}

// alone builds and runs the tests with m in the package's source.
func (t *trial) alone(ctx context.Context, m mistake) (verdict, error) {
	overlay, err := t.overlays.alone(m)
	if err != nil {
		return invalid, err
	}
	defer os.RemoveAll(filepath.Dir(overlay))
	if err := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "./"+t.dir).Run(); err != nil {
		return invalid, ctx.Err()
	}
	for _, s := range t.suites {
		binary, err := t.compile(ctx, s.of, overlay)
		if err != nil {
			return invalid, err
		}
		if _, err := s.run(ctx, binary, -1); err != nil {
			return killed, ctx.Err()
		}
	}
	return lives, nil
}

// run runs a test binary in its package's folder with mistake i awake; -1: none. It returns what the tests print.
func (s suite) run(ctx context.Context, binary string, i int) ([]byte, error) {
	if s.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.limit)
		defer cancel()
	}
	run := exec.CommandContext(ctx, binary, append([]string{"-test.failfast"}, s.args...)...)
	run.Dir = s.of
	run.Env = append(os.Environ(), awakeVariable+"="+strconv.Itoa(i))
	return run.CombinedOutput()
}
