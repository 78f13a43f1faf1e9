package main

import (
	_ "embed"
	"fmt"
	"path"
	"strings"
)

// equivalentFile names the mistakes that change nothing that can be seen, a line each: the package's folder, the mistake as mutants
// prints it, and why.
//
//	queue/heap.go up: > => >= #2 because equal ones are told apart before
//
//go:embed equivalent.txt
var equivalentFile string

// readEquivalent returns why each mistake of dir that is named in the file is equivalent, by its number.
func readEquivalent(dir string, all []mistake) (map[int]string, error) {
	number := map[string]int{}
	for i, m := range all {
		number[path.Join(dir, m.name)] = i
	}
	equivalent := map[int]string{}
	for k, line := range strings.Split(equivalentFile, "\n") {
		name, why, _ := strings.Cut(line, " because ")
		file, _, _ := strings.Cut(name, " ")
		if path.Dir(file) != dir {
			continue
		}
		i, ok := number[name]
		if !ok {
			return nil, fmt.Errorf("equivalent.txt:%d: there is no such mistake any more: %s", k+1, name)
		}
		equivalent[i] = why
	}
	return equivalent, nil
}
