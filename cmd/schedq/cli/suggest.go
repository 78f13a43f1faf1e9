package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/schedq/schedq/sources"
)

// Suggest returns err, about an unknown word, with the known one that was probably meant in place of the list of all. It
// returns err if none is similar.
func Suggest(err error, word string, known []string) error {
	best := Closest(word, known)
	if err == nil || best == "" {
		return err
	}
	problem, _, _ := strings.Cut(err.Error(), ": use ")
	return Usagef("%s; did you mean %q?", problem, sources.Sanitize(best))
}

// Closest returns the word with the fewest typing mistakes, at most one in three characters, or else the shortest that
// starts with word. It returns "" if there is none.
func Closest(word string, known []string) string {
	word = strings.ToLower(word)
	best, fewest := "", len(word)/3+1
	begun, shortest := "", maxSuggested
	for _, k := range known {
		n := mistakes(word, strings.ToLower(k))
		if n < fewest {
			best, fewest = k, n
		}
		if len(word) >= 2 && strings.HasPrefix(strings.ToLower(k), word) && len(k) < shortest {
			begun, shortest = k, len(k)
		}
	}
	return cmp.Or(best, begun)
}

// mistakes returns how many inserted, missing, wrong or exchanged neighbouring characters turn a into b.
func mistakes(a, b string) int {
	from, to := []rune(a), []rune(b)
	if len(from) > maxSuggested || len(to) > maxSuggested {
		return maxSuggested
	}
	before, row, next := []int{}, make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		next[0] = i + 1
		for j, s := range to {
			cost := 1
			if r == s {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && r == to[j-1] && from[i-1] == s {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, slices.Clone(row)
	}
	return row[len(to)]
}

// maxSuggested limits the length of words that are compared.
const maxSuggested = 100
