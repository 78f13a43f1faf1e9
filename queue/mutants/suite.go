package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// suite is a package whose tests are run, and the arguments they get.
type suite struct {
	of     string
	args   []string
	binary string // with all mistakes asleep
	tests  []test // the quickest first
}

// test is one of a suite's.
type test struct {
	name    string
	took    time.Duration
	reaches map[int]bool // the mistakes that can change something in it, by their numbers
}

// A mistake may make the tests slow on a machine that does other work as well before it counts as one that hangs.
const (
	slower    = 8
	leastTime = 20 * time.Second
)

// quick is how long the tests take together that are tried on a mistake before the others.
const quick = time.Second

// measure runs each test alone without a mistake: it must pass. How long it takes, and what it reaches, says which tests are to be
// run on a mistake, in which order, and when one hangs.
func (s *suite) measure(ctx context.Context, reached string) error {
	listed, err := exec.CommandContext(ctx, s.binary, "-test.list", "^(Test|Example|Fuzz)").Output()
	if err != nil {
		return fmt.Errorf("the tests of %s: %w", s.of, err)
	}
	for _, name := range strings.Fields(string(listed)) {
		if err := os.WriteFile(reached, nil, 0o600); err != nil {
			return err
		}
		began := time.Now()
		if said, err := s.run(ctx, s.binary, []string{name}, 0, reachedVariable+"="+reached); err != nil {
			return fmt.Errorf("%s of %s does not pass without a mistake: %w\n%s", name, s.of, err, said)
		}
		t := test{name: name, took: time.Since(began), reaches: map[int]bool{}}
		numbers, err := os.ReadFile(reached)
		if err != nil {
			return err
		}
		for _, number := range bytes.Fields(numbers) {
			if n, err := strconv.Atoi(string(number)); err == nil {
				t.reaches[n] = true
			}
		}
		s.tests = append(s.tests, t)
	}
	slices.SortStableFunc(s.tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	return nil
}

// reaching returns the tests that reach mistake i, in two parts: the quick ones are run first.
func (s *suite) reaching(i int) (parts [2][]test) {
	var took time.Duration
	for _, t := range s.tests {
		if !t.reaches[i] {
			continue
		}
		part := 0
		if took += t.took; took > quick && len(parts[0]) > 0 {
			part = 1
		}
		parts[part] = append(parts[part], t)
	}
	return parts
}

// notices reports whether one of tests fails or hangs with mistake i of the suite's binary awake.
func (s *suite) notices(ctx context.Context, tests []test, i int) bool {
	if len(tests) == 0 {
		return false
	}
	var names []string
	var took time.Duration
	for _, t := range tests {
		names = append(names, t.name)
		took += t.took
	}
	_, err := s.run(ctx, s.binary, names, max(leastTime, slower*took), awakeVariable+"="+strconv.Itoa(i))
	return err != nil
}

// run runs those tests of a binary in the package's folder, all if there are no names, until one fails, and for no longer than limit if
// there is one. It returns what they print.
func (s *suite) run(ctx context.Context, binary string, names []string, limit time.Duration, variables ...string) ([]byte, error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	args := append([]string{"-test.failfast"}, s.args...)
	if len(names) > 0 {
		args = append(args, "-test.run", "^("+strings.Join(names, "|")+")$")
	}
	run := exec.CommandContext(ctx, binary, args...)
	run.Dir = s.of
	run.Env = append(os.Environ(), variables...)
	return run.CombinedOutput()
}
