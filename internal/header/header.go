// Package header knows what can be sent in an HTTP header.
package header

import "strings"

// ValidName reports whether name is a token (RFC 9110, section 5.1).
func ValidName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return name != ""
}

// ValidValue reports whether value can be sent (RFC 9110, section 5.5). White
// space around it would be dropped on the way.
func ValidValue(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
