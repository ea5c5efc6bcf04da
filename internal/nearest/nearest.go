// Package nearest finds the name that was probably meant.
package nearest

import "strings"

// longest is the longest word that is looked at: no name of ours is longer,
// and the distance is quadratic.
const longest = 64

// Name gives the name nearest to what was written, "" where none is near: at
// most a third of the longer one may differ, a swap of neighbours counting as
// one edit. Case does not count, nor which of - and _ was taken. Of equally
// near names the first wins.
func Name(written string, names []string) string {
	if len(written) > longest {
		return ""
	}
	word := fold(written)
	best, least := "", longest
	for _, n := range names {
		most := max(len(written), len(n)) / 3
		if d := distance(word, fold(n), most); d <= most && d < least {
			best, least = n, d
		}
	}
	return best
}

func fold(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", "_")) }

// distance is the number of edits between a and b; anything above most is as
// good as far.
func distance(a, b string, most int) int {
	if d := len(a) - len(b); d > most || -d > most {
		return most + 1
	}
	two, one := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(one[j]+1, row[j-1]+1, one[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
		two, one = one, row
	}
	return one[len(b)]
}
