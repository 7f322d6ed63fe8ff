package client_test

import (
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
)

// adminCalls are of each part of the administration API that openai-go has: all
// that it would send an admin key with.
var adminCalls = map[string]func(*testing.T, *client.Client, ...option.RequestOption) error{
	"GET /v1/organization/projects": func(t *testing.T, c *client.Client, opts ...option.RequestOption) error {
		_, err := c.Admin.Organization.Projects.List(t.Context(), openai.AdminOrganizationProjectListParams{}, opts...)
		return err
	},
	"GET /v1/projects/p/roles": func(t *testing.T, c *client.Client, opts ...option.RequestOption) error {
		_, err := c.Admin.Organization.Projects.Roles.List(t.Context(), "p", openai.AdminOrganizationProjectRoleListParams{}, opts...)
		return err
	},
	"GET /v1/fine_tuning/checkpoints/ft:m/permissions": func(t *testing.T, c *client.Client, opts ...option.RequestOption) error {
		_, err := c.FineTuning.Checkpoints.Permissions.List(t.Context(), "ft:m", openai.FineTuningCheckpointPermissionListParams{}, opts...)
		return err
	},
	"POST /v1/organization/admin_api_keys": func(t *testing.T, c *client.Client, opts ...option.RequestOption) error {
		return c.Post(t.Context(), "organization/admin_api_keys", map[string]string{"name": "n"}, nil, opts...)
	},
	"GET /v1/%6Frganization/users": func(t *testing.T, c *client.Client, opts ...option.RequestOption) error {
		return c.Get(t.Context(), "%6Frganization/users", nil, nil, opts...)
	},
}

func TestAdminCallsAreRefused(t *testing.T) {
	t.Setenv("OPENAI_ADMIN_KEY", "sk-admin-of-the-environment")
	for name, call := range adminCalls {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// The admin key of a target that is not home does not count.
				f := newFleet(t, quick, client.Config{Targets: []client.Target{
					{Name: "one"}, {Name: "two", AdminKey: "admin-key-of-two"},
				}}, "one", "two")
				err := call(t, f.Client)
				mustBe(t, err, middleware.ErrAdmin)
				ours(t, err)
				if n := f.allRequests(); n != 0 {
					t.Errorf("targets got %d requests, want none", n)
				}
				// A per-call admin key is a credential like any other.
				if err := call(t, f.Client, option.WithHeader("Authorization", "Bearer sk-admin")); err == nil {
					t.Error("a credential of the call's own was taken")
				}
			})
		})
	}
}

func TestAdminCallsGoHomeWithTheAdminKey(t *testing.T) {
	for name, call := range adminCalls {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, quick, client.Config{Home: "two", Targets: []client.Target{
					{Name: "one", AdminKey: "admin-key-of-one"}, {Name: "two", AdminKey: "admin-key-of-two"},
				}}, "one", "two")
				f.servers["two"].Script(raw(200, "application/json", `{"data":[]}`))
				if err := call(t, f.Client); err != nil {
					t.Fatal(err)
				}
				r, _ := f.last(t, "two")
				if got := r.Method + " " + r.URL.RequestURI(); got != name {
					t.Errorf("home got %s, want %s", got, name)
				}
				if got := r.Header.Get("Authorization"); got != "Bearer admin-key-of-two" {
					t.Errorf("home got %q, want its admin key", got)
				}
				if f.requests("one") != 0 {
					t.Error("the other target got a request")
				}
			})
		})
	}
}

// The admin key is for administration alone.
func TestAdminKeyServesNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Targets: []client.Target{{Name: "one", AdminKey: "admin-key-of-one"}}}, "one")
		if _, err := f.Models.List(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.answers(t, stream, &f.Client.Client, "one")
		for _, r := range f.seen["one"] {
			if got := r.Header.Get("Authorization"); got != "Bearer key-of-one" {
				t.Errorf("%s came with %q", r.URL.Path, got)
			}
		}
	})
}
