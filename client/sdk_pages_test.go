package client_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/ontime-llm/ontime/internal/upstream"
)

// page is a page of a list; the last has no more.
func page(more bool, ids ...string) upstream.Step {
	var items []string
	for _, id := range ids {
		items = append(items, fmt.Sprintf(`{"id":%q,"object":"file"}`, id))
	}
	return raw(200, "application/json", fmt.Sprintf(`{"object":"list","data":[%s],"has_more":%v,"first_id":%q,"last_id":%q}`,
		strings.Join(items, ","), more, ids[0], ids[len(ids)-1]))
}

// Every page is asked of the same target, with the cursor, and with the options
// of the first.
func TestSDKPages(t *testing.T) {
	for name, list := range map[string]func(t *testing.T, f *fleet, opt option.RequestOption) (ids []string, err error){
		"by themselves": func(t *testing.T, f *fleet, opt option.RequestOption) (ids []string, err error) {
			pager := f.Files.ListAutoPaging(t.Context(), openai.FileListParams{Limit: openai.Int(2)}, opt)
			for pager.Next() {
				ids = append(ids, pager.Current().ID)
			}
			return ids, pager.Err()
		},
		"by hand": func(t *testing.T, f *fleet, opt option.RequestOption) (ids []string, err error) {
			page, err := f.Files.List(t.Context(), openai.FileListParams{Limit: openai.Int(2)}, opt)
			for ; page != nil && err == nil; page, err = page.GetNextPage() {
				for _, file := range page.Data {
					ids = append(ids, file.ID)
				}
			}
			return ids, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one", "two")
				f.servers["one"].Script(page(true, "a", "b"), page(true, "c", "d"), page(false, "e"))
				ids, err := list(t, f, option.WithHeader("X-Mine", "kept"))
				if diff := cmp.Diff([]string{"a", "b", "c", "d", "e"}, ids); diff != "" || err != nil {
					t.Errorf("%v, -want +got\n%s", err, diff)
				}
				for i, query := range []string{"limit=2", "after=b&limit=2", "after=d&limit=2"} {
					if r := f.seen["one"][i]; r.URL.RawQuery != query || r.Header.Get("X-Mine") != "kept" {
						t.Errorf("page %d was asked for with %s and %v, want %s", i, r.URL.RawQuery, r.Header, query)
					}
				}
				if f.requests("two") != 0 {
					t.Error("another target was asked for a page")
				}
			})
		})
	}
}

// An error on the way ends a list with the SDK's own error, and what came before
// has been given.
func TestSDKErrorBetweenPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		f.servers["one"].Script(page(true, "a"), httpError(404, "gone"))
		pager := f.Files.ListAutoPaging(t.Context(), openai.FileListParams{})
		if !pager.Next() || pager.Current().ID != "a" || pager.Next() {
			t.Error("want one item")
		}
		theirs(t, pager.Err(), 404)
	})
}

// Pages of an object that a target made are asked of that target.
func TestSDKPagesOfAStoredObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, id := storedAtTwo(t, false)
		item := func(more bool, id string) upstream.Step {
			return raw(200, "application/json", fmt.Sprintf(`{"object":"list","data":[{"id":%q,"type":"message"}],"has_more":%v,"last_id":%q}`, id, more, id))
		}
		f.servers["two"].Script(item(true, "msg_1"), item(false, "msg_2"))
		pager := f.Responses.InputItems.ListAutoPaging(t.Context(), id, responses.InputItemListParams{})
		var ids []string
		for pager.Next() {
			ids = append(ids, pager.Current().ID)
		}
		if diff := cmp.Diff([]string{"msg_1", "msg_2"}, ids); diff != "" || pager.Err() != nil {
			t.Errorf("%v, -want +got\n%s", pager.Err(), diff)
		}
		if r, _ := f.last(t, "two"); r.URL.Query().Get("after") != "msg_1" || f.requests("two") != 3 {
			t.Errorf("the maker got %s as its request %d", r.URL, f.requests("two"))
		}
	})
}

// Polling waits as long as the provider says between two looks.
func TestSDKPolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		look := func(status string) upstream.Step {
			return withHeaders(raw(200, "application/json", fmt.Sprintf(`{"id":"file-1","object":"vector_store.file","status":%q}`, status)),
				map[string]string{"Openai-Poll-After-Ms": "1500"})
		}
		f.servers["one"].Script(look("in_progress"), look("in_progress"), look("completed"))
		start := time.Now()
		file, err := f.VectorStores.Files.PollStatus(t.Context(), "vs_1", "file-1", 0)
		if err != nil || file.Status != "completed" || time.Since(start) != 3*time.Second {
			t.Errorf("%+v, %v after %v, want completed after 3s", file, err, time.Since(start))
		}
		if r, _ := f.last(t, "one"); r.Method != http.MethodGet || r.Header.Get("X-Stainless-Poll-Helper") != "true" || f.allRequests() != 3 {
			t.Errorf("%s %s after %d requests", r.Method, r.URL, f.allRequests())
		}
	})
}
