// Package conformance has no code. Its tests hold the client against what others wrote: SDKs over Client.HTTPClient(), and a
// simulated provider, @copilotkit/aimock, where ONTIME_AIMOCK names its llmock command (.ci/run installs it).
package conformance
