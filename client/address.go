package client

import (
	"net"
	"net/url"
	"strings"

	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/internal/secret"
)

// eachDeployment ends a base URL of Azure's dated API that stands for all
// deployments of a resource.
const eachDeployment = "/deployments/{model}"

// address is the target's base URL as it is written: its own or its provider's.
func (t *Target) address() string {
	preset, _ := t.preset()
	switch {
	case t.BaseURL != "":
		return t.BaseURL
	case preset.elsewhere[t.Region] != "":
		return preset.elsewhere[t.Region]
	default:
		return preset.baseURL
	}
}

// base is the target's base URL with everything in its place, empty if it is no
// URL. Calls may go to deployments below it, each named like the model.
func (t *Target) base() (base *url.URL, deployments bool) {
	base, err := url.Parse(strings.NewReplacer("{region}", t.Region, "{project}", t.Project).Replace(t.address()))
	if err != nil {
		return new(url.URL), false
	}
	if base.Path, deployments = strings.CutSuffix(strings.TrimSuffix(base.Path, "/"), eachDeployment); deployments {
		base.RawPath = "" // it had the braces
	}
	return base, deployments
}

// ofDeployments reports whether the target is one deployment, or several, in
// Azure's dated API.
func (t *Target) ofDeployments() bool {
	base, several := t.base()
	return several || strings.Contains(base.Path, "/deployments/")
}

func (p *problems) address(field string, t *Target) {
	address := t.address()
	if address == "" {
		p.add(field+".base_url", "it is empty, and the provider has no common one: set the URL up to and including the version")
		return
	}
	if !p.part(field+".region", address, "{region}", t.Region, "a region such as us-east-1") ||
		!p.part(field+".project", address, "{project}", t.Project, "a project's id") {
		return
	}
	u, _ := t.base()
	written, _, _ := strings.Cut(strings.Replace(address, eachDeployment, "", 1), "?")
	written = strings.NewReplacer("{region}", "", "{project}", "").Replace(written)
	switch {
	case strings.ContainsAny(written, "{}"):
		p.add(field+".base_url", "it has an unknown part in braces: use {region}, {project}, or %s at its end", eachDeployment)
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		p.add(field+".base_url", "it is not an http or https URL: set one such as https://api.example.com/v1")
	case u.User != nil:
		p.add(field+".base_url", "it carries a user or password: use api_key or Auth for the credential")
	case u.Fragment != "":
		p.add(field+".base_url", "it has a fragment: remove what follows #")
	case credentialInQuery(u):
		p.add(field+".base_url", "its query carries a credential: use api_key or Auth for it")
	case u.Scheme == "http" && hasCredential(t) && !loopback(u.Hostname()):
		p.add(field+".base_url", "a credential would travel unencrypted: use https")
	case t.Provider == "azure" && strings.Trim(u.Path, "/") == "" && !t.ofDeployments():
		p.add(field+".base_url", "it is the resource's address alone: add /openai/v1")
	case t.Provider == "azure" && t.ofDeployments() && !u.Query().Has("api-version"):
		p.add(field+".base_url", "deployments need a version: add ?api-version=2024-10-21, or use /openai/v1")
	case pathOfCall(u) != "":
		p.add(field+".base_url", "it goes on with the path of a call, which is added to it: end it before /%s", pathOfCall(u))
	}
}

// pathOfCall is the path of a call that a base URL ends in by mistake; empty if it does
// not. A deployment may have such a name.
func pathOfCall(base *url.URL) string {
	path := strings.TrimRight(base.Path, "/")
	_, call, ok := dialect.ForPath(path)
	if !ok || strings.HasSuffix(path, "/deployments/"+call) {
		return ""
	}
	return call
}

// part checks a value that a base URL has a place for. Anything else than a plain
// word could make it another URL.
func (p *problems) part(field, address, place, value, what string) bool {
	switch {
	case !strings.Contains(address, place):
		return true
	case value == "":
		p.add(field, "it is empty, and the base URL has a place for it: set %s", what)
		return false
	case strings.ContainsFunc(value, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-')
	}):
		p.add(field, "%q cannot stand in a base URL: use letters, digits and '-', or write base_url in full", value)
		return false
	}
	return true
}

func credentialInQuery(u *url.URL) bool {
	for name := range u.Query() {
		if secret.Param(name) {
			return true
		}
	}
	return false
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
