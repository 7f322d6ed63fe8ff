package secret_test

import (
	"testing"

	"github.com/ontime-llm/ontime/internal/secret"
)

func TestParam(t *testing.T) {
	for name, want := range map[string]bool{
		"key": true, "api_key": true, "Api-Key": true, "access_token": true, "X-Amz-Signature": true, "sig": true,
		"api-version": false, "author": false, "monkey": false, "limit": false, "": false,
	} {
		if got := secret.Param(name); got != want {
			t.Errorf("Param(%q) = %v, want %v", name, got, want)
		}
	}
}
