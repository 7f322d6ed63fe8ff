// Package secret knows the names under which credentials travel.
package secret

import "strings"

// Param reports whether a query parameter of that name carries a credential, by
// the names that providers use.
func Param(name string) bool {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name)) {
	case "key", "apikey", "subscriptionkey", "accesskey", "token", "accesstoken", "authtoken", "auth", "authorization",
		"secret", "clientsecret", "password", "sig", "signature", "xamzsignature", "xamzsecuritytoken", "xamzcredential":
		return true
	}
	return false
}
