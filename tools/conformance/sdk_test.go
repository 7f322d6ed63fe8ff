package conformance

import (
	"context"
	"net/http"
)

// sdk is one way to ask, through one SDK.
type sdk struct {
	name string
	// path is what the SDK's base URL has after the host.
	path   string
	format string // of its requests, as client.Target.Formats has it
	// streamed tells whether the answer comes in events.
	streamed bool
	ask      func(context.Context, *http.Client, string, question) (answer, error)
	// read returns what the SDK's own error says; false if err holds none.
	read func(err error) (apiError, bool)
}

// sdks are all of them, each as its users would set it up.
var sdks = []sdk{
	{"go-openai streamed", "/v1", "chat", true, goOpenAIStream, goOpenAIError},
	{"go-openai whole", "/v1", "chat", false, goOpenAIWhole, goOpenAIError},
	{"anthropic streamed", "", "messages", true, anthropicStream, anthropicError},
	{"anthropic whole", "", "messages", false, anthropicWhole, anthropicError},
	{"openai-go streamed", "/v1", "chat", true, openAIStream, openAIError},
	{"openai-go whole", "/v1", "chat", false, openAIWhole, openAIError},
}

// question is a prompt, or the step after the model has called for the tool.
type question struct {
	prompt string
	// tool offers get_weather.
	tool bool
	// called is what the model has called for, and result what came of it.
	called *toolCall
	result string
}

// answer is what the application gets to see.
type answer struct {
	ID, Text, Thought, Finish string
	Calls                     []toolCall
	Input, Output             int64 // tokens; 0: not told
}

type toolCall struct{ ID, Name, Arguments string }

// apiError is what an SDK makes of a provider's error.
type apiError struct {
	Status              int
	Type, Code, Message string
}

const (
	toolName = "get_weather"
	model    = "some-model"
)

// schema is that of the tool's only argument.
var schema = map[string]any{"city": map[string]any{"type": "string"}}
