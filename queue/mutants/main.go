// Command mutants measures the tests of the queue, and of what models a scheduler around it: it makes one small mistake after the
// other in a package, and says which ones its tests do not notice.
//
//	go run ./queue/mutants -dir queue/cycle/local -sample 60 -seed 7
//
// All mistakes are built into one test binary, asleep; a run wakes one. The few that can't sleep, such as a constant of a type, are
// built alone.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	dir := flag.String("dir", "queue", "the package to make mistakes in")
	sample := flag.Int("sample", 0, "how many mistakes to draw; 0: all")
	seed := flag.Int64("seed", 1, "which ones to draw")
	operations := flag.Int("operations", 4000, "about how many operations the conformance test compares for each gate, for mistakes in queue")
	again := flag.String("again", "", "what an earlier run printed: only the mistakes that lived then are tried")
	least := flag.Float64("least", 0, "how many in a hundred have to be noticed")
	jobs := flag.Int("jobs", runtime.NumCPU(), "how many mistakes are tried at once")
	flag.Parse()
	lived, err := readLived(*again)
	if err == nil {
		err = measure(context.Background(), filepath.Clean(*dir), *operations, *jobs, *least, func(all []mistake) []int {
			order := rand.New(rand.NewSource(*seed)).Perm(len(all))
			if *sample > 0 {
				order = order[:min(*sample, len(all))]
			}
			slices.Sort(order)
			return slices.DeleteFunc(order, func(i int) bool { return lived != nil && !lived[all[i].name] })
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// livesMark stands before the name of a mistake that no test noticed.
const livesMark = ": lives: "

// readLived returns the names of the mistakes that lived, of what an earlier run printed into a file; nil without a file.
func readLived(file string) (map[string]bool, error) {
	if file == "" {
		return nil, nil
	}
	printed, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("an earlier run: %w", err)
	}
	lived := map[string]bool{}
	for line := range strings.Lines(string(printed)) {
		if _, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), livesMark); ok {
			lived[name] = true
		}
	}
	return lived, nil
}

// suites are the packages whose tests are to notice the mistakes of dir, and how their binaries are run.
func suites(dir string, operations int) []suite {
	switch dir {
	case "queue":
		return []suite{
			{of: "./queue", args: []string{"-rapid.nofailfile"}},
			{of: "./queue/conformance", args: []string{"-rapid.nofailfile", "-operations", strconv.Itoa(operations)}},
		}
	case "queue/cycle/local": // and the model, which undoes and places. One seed of a test that goes through four is enough
		return []suite{{of: "./queue/cycle/local", args: []string{"-test.short"}}, {of: "./queue/session/model", args: []string{"-rapid.nofailfile"}}}
	case "queue/session/model": // and those that play it: reruns and what-ifs are shown by their tests
		return []suite{
			{of: "./queue/session/model", args: []string{"-rapid.nofailfile"}}, {of: "./queue/session/report", args: []string{"-rapid.nofailfile"}},
			{of: "./queue/session/timeline", args: []string{"-rapid.nofailfile"}}, {of: "./queue/session", args: []string{"-rapid.nofailfile"}},
		}
	}
	return []suite{{of: "./" + dir}}
}

// measure tries the mistakes of dir that draw chooses, and prints which of them live and how many do not. It returns an error if fewer
// than least in a hundred of those that are not equivalent were noticed.
func measure(ctx context.Context, dir string, operations, jobs int, least float64, draw func([]mistake) []int) error {
	began := time.Now()
	all, err := mistakesOf(dir)
	if err != nil {
		return err
	}
	equivalent, err := readEquivalent(dir, all)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	trial := trial{dir: dir, suites: suites(dir, operations), overlays: overlays{dir: dir, work: work}}
	if err := trial.prepare(ctx, all); err != nil {
		return err
	}
	drawn := slices.DeleteFunc(draw(all), func(i int) bool { return equivalent[i] != "" })
	verdicts, err := trial.all(ctx, all, drawn, jobs)
	if err != nil {
		return err
	}
	count := map[verdict]int{}
	for _, v := range verdicts {
		count[v]++
	}
	tried := count[lives] + count[killed]
	if tried == 0 {
		return fmt.Errorf("no mistake of %s could be tried", dir)
	}
	share := 100 * float64(count[killed]) / float64(tried)
	fmt.Printf("%s: %d of %d mistakes were noticed, %.1f %%; %d are equivalent, %d do not compile; %s\n",
		dir, count[killed], tried, share, len(equivalent), count[invalid], time.Since(began).Round(time.Second))
	if share < least {
		return fmt.Errorf("%.1f %% are fewer than %g", share, least)
	}
	return nil
}
