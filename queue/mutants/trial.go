package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
)

// verdict is what became of a mistake.
type verdict int

const (
	lives   verdict = iota // no test noticed it
	killed                 // a test failed, or took so long that it counts as one that hangs
	invalid                // it does not compile
)

// trial runs the tests of suites on each mistake of dir.
type trial struct {
	dir      string
	suites   []suite
	overlays overlays
}

// prepare builds the tests with all mistakes asleep, and finds out what each test reaches.
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
		if err := s.measure(ctx, filepath.Join(t.overlays.work, "reached")); err != nil {
			return err
		}
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
			reached := ""
			if all[i].asleep == nil {
				verdicts[k], err = t.alone(ctx, all[i])
			} else if verdicts[k] = t.wake(ctx, i); !t.reach(i) {
				reached = ": no test reaches it"
			}
			if verdicts[k] == lives && err == nil {
				fmt.Printf("%s:%d%s%s%s\n", all[i].file, all[i].line, reached, livesMark, all[i].name)
			}
			return err
		})
	}
	return verdicts, group.Wait()
}

// reach reports whether any test reaches mistake i.
func (t *trial) reach(i int) bool {
	return slices.ContainsFunc(t.suites, func(s suite) bool {
		return slices.ContainsFunc(s.tests, func(t test) bool { return t.reaches[i] })
	})
}

// wake runs the tests that mistake i of the prepared binaries reaches, with it awake.
func (t *trial) wake(ctx context.Context, i int) verdict {
	for part := range 2 {
		for k := range t.suites {
			if s := &t.suites[k]; s.notices(ctx, s.reaching(i)[part], i) {
				return killed
			}
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
	for k := range t.suites {
		s := &t.suites[k]
		binary, err := t.compile(ctx, s.of, overlay)
		if err != nil {
			return invalid, err
		}
		limit := leastTime
		for _, t := range s.tests {
			limit += slower * t.took
		}
		if _, err := s.run(ctx, binary, nil, limit); err != nil {
			return killed, ctx.Err()
		}
	}
	return lives, nil
}
