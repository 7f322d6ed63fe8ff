package yamlfile

import "strings"

// Nearest returns the name that was probably meant; empty: none is near.
func Nearest(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		d := distance(plain(name), plain(k))
		if d < least && 2*d < len(k) {
			best, least = k, d
		}
	}
	return best
}

// plain is a name without what spellings differ in: baseURL is base_url.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// distance is the number of characters to add, remove or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
