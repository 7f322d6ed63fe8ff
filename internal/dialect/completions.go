package dialect

// completions is OpenAI's legacy completions.
type completions struct{}

func (completions) Name() string { return "completions" }

// Request counts the choices of each prompt where there are several.
func (completions) Request(body []byte) (Request, error) {
	r, err := readRequest(body, true)
	if err != nil {
		return Request{}, err
	}
	r.N *= r.prompts
	return r.Request, nil
}

func (completions) NewReader() Reader { return &choiceReader{} }

func (completions) Answer(body []byte, ev *Event) error { return answerChoices(body, ev) }

// Stream gives each choice one chunk, which ends it too.
func (completions) Stream(answer []byte) []byte {
	a, ok := readChoices(answer)
	if !ok {
		return nil
	}
	for i, choice := range a.choices {
		if choice["index"] == nil {
			choice["index"] = number(i)
		}
		a.chunk(choice)
	}
	return a.end()
}
