package upstream

import (
	"fmt"

	"github.com/tidwall/gjson"
)

// embeddings is POST /embeddings. There is one vector per input, no stream, and no output tokens.
type embeddings struct{}

func (embeddings) whole(dst []byte, a *answer) []byte {
	inputs := 1
	if in := gjson.GetBytes(a.body, "input"); in.IsArray() {
		inputs = len(in.Array())
	}
	vector := "[0.6,0.8]"
	if gjson.GetBytes(a.body, "encoding_format").Str == "base64" {
		vector = `"mpkZP83MTD8="` // the same, as little-endian float32
	}
	dst = append(dst, `{"object":"list","data":[`...)
	for i := range inputs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `{"object":"embedding","index":%d,"embedding":%s}`, i, vector)
	}
	return fmt.Appendf(dst, `],"model":%s,"usage":{"prompt_tokens":%d,"total_tokens":%d}}`, a.model, a.prompt.tokens, a.prompt.tokens)
}

var _ format = embeddings{}
