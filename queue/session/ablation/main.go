// Ablation measures what each rule of the model is worth: it switches the rules off one by one, and measures
// how much worse the model's answers become for the recordings in SCHEDQ_RECORDINGS (see TestAnswers in
// queue/session/report). It prints a Markdown table.
//
//	go run ./queue/session/ablation [-run REGEXP] [-together] [-inputs 01] [-recordings REGEXP]
//
// Inputs are numbered as in TestAnswers. A rule that is worth less than 0.3 points of every answer should be
// deleted.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/schedq/schedq/queue/session/report"
)

func main() {
	run := flag.String("run", "", "switch off only the rules whose names match this `REGEXP`")
	keep := flag.String("keep", "", "never switch off rules whose names match this `REGEXP`")
	together := flag.Bool("together", false, "switch those rules off together")
	inputs := flag.String("inputs", "", "the numbers of the inputs to measure")
	only := flag.String("recordings", "", "measure only recordings whose names match this `REGEXP`")
	flag.Parse()
	if err := ablate(*run, *keep, *together, *inputs, *only); err != nil {
		fmt.Fprintln(os.Stderr, "ablation:", err)
		os.Exit(1)
	}
}

// ablate measures the model with all rules and without each rule whose name matches pattern.
func ablate(pattern, keep string, together bool, inputs, recordings string) error {
	wanted, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	kept, err := regexp.Compile(keep)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ablation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := build(dir)
	if err != nil {
		return err
	}
	whole, err := measure(program, dir, inputs, recordings)
	if err != nil {
		return err
	}
	fmt.Println("| rule | loses at most | where | gains at most | where |\n|---|---|---|---|---|")
	var names []string
	for _, r := range rules {
		if wanted.MatchString(r.name) && (keep == "" || !kept.MatchString(r.name)) {
			names = append(names, r.name)
		}
	}
	if together {
		return printLoss(program, dir, inputs, recordings, whole, names...)
	}
	for _, name := range names {
		if err := printLoss(program, dir, inputs, recordings, whole, name); err != nil {
			return err
		}
	}
	return nil
}

// printLoss prints how the answers change without the named rules.
func printLoss(program, dir, inputs, recordings string, whole map[string]float64, names ...string) error {
	without, err := measure(program, dir, inputs, recordings, names...)
	if err != nil {
		return fmt.Errorf("%s: %w", names, err)
	}
	var changes []change
	for what, share := range whole {
		changes = append(changes, change{what, 100 * (share - without[what])})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(b.points, a.points), strings.Compare(a.what, b.what)) })
	worst, best := changes[0], changes[len(changes)-1]
	name := names[0]
	if len(names) > 1 {
		name = fmt.Sprintf("%d rules", len(names))
		for _, c := range changes {
			if c.points > 0.1 || c.points < -0.1 {
				fmt.Printf("| | %.2f | %s | | |\n", c.points, c.what)
			}
		}
	}
	fmt.Printf("| %s | %.2f | %s | %.2f | %s |\n", name, max(0, worst.points), where(worst.points, worst.what), max(0, -best.points), where(-best.points, best.what))
	return nil
}

type change struct {
	what   string
	points float64
}

// where returns what, or nothing for a change of less than 0.1 points.
func where(points float64, what string) string {
	if points < 0.1 {
		return ""
	}
	return what
}

// build compiles TestAnswers with a switch at every rule.
func build(dir string) (program string, err error) {
	overlay := map[string]string{}
	root, err := filepath.Abs("queue/session")
	if err != nil {
		return "", err
	}
	for _, r := range rules {
		path := filepath.Join(root, r.file)
		text, err := os.ReadFile(cmp.Or(overlay[path], path))
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(text), r.old); n != 1 {
			return "", fmt.Errorf("%s contains the text to replace for %q %d times", r.file, r.name, n)
		}
		to := filepath.Join(dir, strings.ReplaceAll(r.file, "/", "_"))
		changed := strings.Replace(string(text), r.old, strings.ReplaceAll(r.new, "OFF", fmt.Sprintf("isOff(%q)", r.name)), 1)
		if err := os.WriteFile(to, []byte(changed), 0o600); err != nil {
			return "", err
		}
		overlay[path] = to
		pkg := filepath.Dir(path)
		added := filepath.Join(dir, filepath.Base(pkg)+"_switches.go")
		overlay[filepath.Join(pkg, "switches.go")] = added
		if err := os.WriteFile(added, fmt.Appendf(nil, switches, filepath.Base(pkg)), 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "report.test")
	cmd := exec.Command("go", "test", "-overlay", filepath.Join(dir, "overlay.json"), "-c", "-o", program, "./queue/session/report")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
}

// switches is added to each package that has rules.
const switches = `package %s

import (
	"os"
	"slices"
	"strings"
)

var rulesOff = strings.Split(os.Getenv("SCHEDQ_OFF"), ";")

func isOff(rule string) bool {
	return slices.Contains(rulesOff, rule)
}
`

// measure returns the share of right answers by recording, input and question, without the named rules.
func measure(program, dir, inputs, recordings string, without ...string) (map[string]float64, error) {
	out := filepath.Join(dir, "answers.json")
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "-test.run", "^TestAnswers$/"+recordings, "-test.timeout", "1h")
	cmd.Dir = "queue/session/report"
	cmd.Env = append(os.Environ(), "SCHEDQ_VERIFY=1", "SCHEDQ_ANSWERS="+out, "SCHEDQ_INPUTS="+cmp.Or(inputs, "0123"), "SCHEDQ_OFF="+strings.Join(without, ";"))
	text, failed := cmd.CombinedOutput() // it also fails if answers are worse than the test wants
	f, err := os.Open(out)
	if err != nil {
		return nil, fmt.Errorf("%w: %w: %s", err, failed, text[max(0, len(text)-2000):])
	}
	defer f.Close()
	shares := map[string]float64{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var m struct {
			Recording, Input string
			Answers          report.Answers
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, err
		}
		for question, a := range map[string]report.Answer{"tier": m.Answers.Tier, "plugins": m.Answers.Plugins, "return": m.Answers.Return, "attempts": m.Answers.Attempts} {
			shares[strings.Join([]string{m.Recording, m.Input, question}, ", ")] = a.Share()
		}
	}
	return shares, nil
}
