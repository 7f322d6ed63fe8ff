package load

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// Prompts are what the calls ask. They are in no report, which says only how many there
// are, how long, and a digest by which they are known again.
type Prompts struct {
	texts  []string
	tokens int // on average, about
	source string
}

// words are of three letters, and with their space a token each to most models.
var words = strings.Fields("the and for you his but say her she one all out who get him now see how our way new any day use two can did " +
	"had has let man old too was boy put sun sea red big few got hot job key law lot low map men oil own pay per run set six ten top try")

// task makes a model go on until its cap, as far as words can.
const task = " Now count upwards from 1, one number per line, and never stop."

const bytesPerToken = 4 // about, of English text

// Synthetic returns one prompt of about so many tokens.
func Synthetic(tokens int) *Prompts {
	luck := rand.New(rand.NewPCG(1, 1)) // it is the same prompt in every test
	var b strings.Builder
	for n := tokens - len(task)/bytesPerToken; n > 0; n-- {
		b.WriteString(words[luck.IntN(len(words))])
		b.WriteByte(' ')
	}
	return newPrompts([]string{strings.TrimSpace(b.String() + task)}, fmt.Sprintf("synthetic, about %d tokens", tokens))
}

const maxPrompt = 4 << 20 // bytes of one line

// ReadPrompts reads one prompt a line. Calls take them in turn, the same call the same
// one for every subject.
func ReadPrompts(r io.Reader) (*Prompts, error) {
	var texts []string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxPrompt)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			texts = append(texts, text)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	if texts == nil {
		return nil, fmt.Errorf("there is no prompt: write one on each line")
	}
	return newPrompts(texts, "a file, one prompt a line"), nil
}

func newPrompts(texts []string, source string) *Prompts {
	digest, bytes := sha256.New(), 0
	for _, text := range texts {
		io.WriteString(digest, text+"\n") // a hash takes everything
		bytes += len(text)
	}
	return &Prompts{
		texts: texts, tokens: max(bytes/len(texts)/bytesPerToken, 1),
		source: fmt.Sprintf("%s; %d in all, sha256 %s", source, len(texts), hex.EncodeToString(digest.Sum(nil)[:8])),
	}
}

// of returns the prompt of call n. mark, if there is one, comes first: a provider's cache
// goes by the beginning, and finds nothing.
func (p *Prompts) of(n int, mark string) string {
	text := p.texts[n%len(p.texts)]
	if mark == "" {
		return text
	}
	return mark + " " + text
}
