// Package browsertest looks at the status page with a browser. Its test needs
// Debian's chromium, Node.js, and the folder in which npm has installed what
// package.json names; `.ci/run browser` sees to all of that:
//
//	npm ci --prefix /tmp/browser       # package.json and package-lock.json copied to it
//	ONTIME_BROWSER=/tmp/browser go test ./client/internal/status/browsertest
//
// With ONTIME_SHOTS=folder it leaves a picture of the page in every size and colour
// scheme there.
package browsertest
