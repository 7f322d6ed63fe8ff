package budget

import "context"

type endpointKey struct{}

// With returns a context whose calls belong to the named endpoint, and so are
// held to its budget. The innermost With counts. A client that is itself bound
// to an endpoint ignores it.
func With(ctx context.Context, endpoint string) context.Context {
	return context.WithValue(ctx, endpointKey{}, endpoint)
}

// Endpoint returns the endpoint that [With] named, or "" if there is none: the
// call then belongs to the endpoint "default".
func Endpoint(ctx context.Context) string {
	endpoint, _ := ctx.Value(endpointKey{}).(string)
	return endpoint
}
