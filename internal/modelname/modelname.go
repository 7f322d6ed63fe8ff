// Package modelname knows what a provider may call a model that it answered with.
package modelname

import "strings"

const longest = 128 // bytes

// Clean returns what a provider said, at most 128 bytes of it, if it may be the name of a
// model, and else nothing: it could be anything, and gets into logs and pages.
func Clean(said string) string {
	said = said[:min(len(said), longest)]
	for i := range len(said) {
		switch c := said[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("._:/@-", c) >= 0:
		default:
			return ""
		}
	}
	return said
}
