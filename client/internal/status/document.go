package status

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
)

//go:embed assets
var assets embed.FS

// document is the page in one piece, so that it works under any prefix, and the policy
// that allows its own style and script, the way back to where it came from, and nothing
// else; nor that HTML is made of data.
var document = func() (d struct {
	html   []byte
	policy string
}) {
	style := parts("page.css")
	script := parts("draw.js", "overview.js", "calls.js", "page.js")
	d.html = bytes.Replace(parts("page.html"), []byte("/*style*/"), style, 1)
	d.html = bytes.Replace(d.html, []byte("/*script*/"), script, 1)
	d.policy = "default-src 'none'; script-src " + hashOf(script) + "; style-src " + hashOf(style) +
		"; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" +
		"; require-trusted-types-for 'script'; trusted-types 'none'"
	return d
}()

// parts reads files of the page, which are there.
func parts(names ...string) (all []byte) {
	for _, name := range names {
		part, err := assets.ReadFile("assets/" + name)
		if err != nil {
			panic(err)
		}
		all = append(all, part...)
	}
	return all
}

func hashOf(part []byte) string {
	sum := sha256.Sum256(part)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
