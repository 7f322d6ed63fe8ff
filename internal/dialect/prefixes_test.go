package dialect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// said is a message of n bytes.
func said(role string, n int) string {
	frame := len(`{"role":"","content":""}`) + len(role)
	return fmt.Sprintf(`{"role":%q,"content":%q}`, role, strings.Repeat("x", n-frame))
}

func prefixesOf(t *testing.T, d dialect.Dialect, body string) (hashes []uint64, bytes []int) {
	t.Helper()
	r, err := d.Request([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Prefixes {
		hashes, bytes = append(hashes, p.Hash), append(bytes, p.Bytes)
	}
	return hashes, bytes
}

func TestPrefixes(t *testing.T) {
	system, user, answer, more := said("system", 5000), said("user", 100), said("assistant", 200), said("user", 50)
	turn1 := "[" + system + "," + user + "]"
	turn2 := "[" + system + "," + user + "," + answer + ",\n " + more + "]"
	text, short := `"`+strings.Repeat("y", 6000)+`"`, `"`+strings.Repeat("y", 4000)+`"`
	tools := `[{"type":"function","function":{"name":"f","description":` + text + `}}]`
	image := `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("A", 9000) + `"}}]}`
	many := strings.Repeat(said("user", 5000)+",", 39) + said("user", 5000)
	everyNth := []int{5000, 10000} // the first two and the last thirteen of forty
	for i := 28; i <= 40; i++ {
		everyNth = append(everyNth, 5000*i)
	}
	for _, test := range []struct {
		name string
		d    dialect.Dialect
		body string
		want []int // bytes
	}{
		{"a first turn", dialect.Chat, `{"model":"m","messages":` + turn1 + `}`, []int{5000, 5100}},
		{"a second turn", dialect.Chat, `{"model":"m","messages":` + turn2 + `}`, []int{5000, 5100, 5300, 5350}},
		{"short", dialect.Chat, `{"model":"m","messages":[` + user + `],"x":` + text + `}`, nil},
		{"long enough with the second message", dialect.Chat, `{"model":"m","messages":[{"content":` + short + `},` + user + `]}`, []int{4014 + 100}},
		{"tools", dialect.Chat, `{"model":"m","tools":` + tools + `,"messages":[` + user + `]}`, []int{len(tools), len(tools) + 100}},
		{"a file is not counted", dialect.Chat, `{"model":"m","messages":[` + image + `,` + system + `]}`,
			[]int{len(image) - 9000 - len("data:image/png;base64,") + 5000}},
		{"a long conversation", dialect.Chat, `{"model":"m","messages":[` + many + `]}`, everyNth},
		{"and tools", dialect.Chat, `{"model":"m","messages":[` + many + `],"functions":` + text + `}`, func() (all []int) {
			for _, n := range append([]int{0}, everyNth...) {
				all = append(all, n+6002)
			}
			return all
		}()},
		{"messages with a system prompt", dialect.Messages, `{"model":"m","system":` + text + `,"messages":[` + user + `,` + answer + `]}`, []int{6002, 6102, 6302}},
		{"responses", dialect.Responses, `{"model":"m","input":` + turn1 + `,"instructions":` + text + `}`, []int{6002, 11002, 11102}},
		{"responses in one string", dialect.Responses, `{"model":"m","input":` + text + `}`, []int{6002}},
		{"a completion", dialect.Completions, `{"model":"m","prompt":` + text + `}`, []int{6002}},
		{"one completion in a list", dialect.Completions, `{"model":"m","prompt":[` + text + `]}`, []int{6004}},
		{"several completions", dialect.Completions, `{"model":"m","prompt":[` + text + `,` + text + `]}`, nil},
		{"embeddings", dialect.Embeddings, `{"model":"m","input":` + text + `}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, got := prefixesOf(t, test.d, test.body); !slices.Equal(got, test.want) {
				t.Errorf("prefixes of %v bytes, want %v", got, test.want)
			}
		})
	}
}

// What a body says before and between messages does not matter, nor where its
// members stand; what the messages and tools say does.
func TestPrefixHashes(t *testing.T) {
	a, b, c := said("system", 5000), said("user", 100), said("assistant", 100)
	tools := `"tools":[{"type":"function","function":{"name":"f"}}]`
	base := `{"model":"m",` + tools + `,"messages":[` + a + `,` + b + `]}`
	want, _ := prefixesOf(t, dialect.Chat, base)
	for _, test := range []struct {
		name, body string
		same       int // that are as those of base
	}{
		{"itself", base, 2},
		{"members in another order", `{"messages":[` + a + `,` + b + `],"stream":true,` + tools + `,"model":"n"}`, 2},
		{"spread out", "{\"model\":\"m\"," + tools + ",\"messages\" : [\n" + a + " ,\n" + b + "] }", 2},
		{"another answer", `{"model":"m",` + tools + `,"messages":[` + a + `,` + c + `]}`, 1},
		{"the other way round", `{"model":"m",` + tools + `,"messages":[` + b + `,` + a + `]}`, 0},
		{"no tools", `{"model":"m","messages":[` + a + `,` + b + `]}`, 0},
		{"other tools", `{"model":"m","tools":[],"messages":[` + a + `,` + b + `]}`, 0},
		{"the same as functions", `{"model":"m","functions":[{"type":"function","function":{"name":"f"}}],"messages":[` + a + `,` + b + `]}`, 0},
		{"instructions besides", `{"model":"m",` + tools + `,"instructions":"x","messages":[` + a + `,` + b + `]}`, 0},
	} {
		got, _ := prefixesOf(t, dialect.Chat, test.body)
		same := 0
		for same < min(len(got), len(want)) && got[same] == want[same] {
			same++
		}
		if same != test.same {
			t.Errorf("%s: the first %d of %d hashes are the same, want %d", test.name, same, len(got), test.same)
		}
	}
}

// Whatever a conversation does next, the prefixes that it tells have the same hash
// as far as it is the same, and no further.
func TestPrefixesOfConversations(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b"})
	rapid.Check(t, func(rt *rapid.T) {
		messages := func(name string) (all []string) {
			for _, w := range rapid.SliceOfN(word, 1, 20).Draw(rt, name) {
				all = append(all, `{"content":"`+strings.Repeat(w, 5000)+`"}`)
			}
			return all
		}
		one, other := messages("one"), messages("other")
		common := 0
		for common < min(len(one), len(other)) && one[common] == other[common] {
			common++
		}
		at := func(all []string) map[int]uint64 {
			hashes, bytes := prefixesOf(t, dialect.Chat, `{"model":"m","messages":[`+strings.Join(all, ",")+`]}`)
			if want := min(len(all), 15); len(hashes) != want {
				rt.Fatalf("%d prefixes of %d messages, want %d", len(hashes), len(all), want)
			}
			m := make(map[int]uint64)
			for i := range hashes {
				m[bytes[i]/5000] = hashes[i]
			}
			return m
		}
		hashes := at(other)
		for n, hash := range at(one) {
			if h, ok := hashes[n]; ok && (h == hash) != (n <= common) {
				rt.Fatalf("prefix %d of two conversations with %d messages in common: the same is %t", n, common, h == hash)
			}
		}
	})
}

// Prompts that are cached by nobody cost nothing more; others two allocations.
func TestPrefixesAllocateLittle(t *testing.T) {
	for size, want := range map[int]float64{1000: 2, 100000: 3} {
		body := []byte(`{"model":"m","messages":[` + said("user", size) + `]}`)
		if got := testing.AllocsPerRun(100, func() { _, _ = dialect.Chat.Request(body) }); got > want {
			t.Errorf("%v allocations for %d bytes, want at most %v", got, size, want)
		}
	}
}
