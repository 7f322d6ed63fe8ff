package dialect

import "errors"

var (
	// ErrNotJSON says that a whole answer is not a JSON object: HTML, nothing at
	// all, or a body that was cut short.
	ErrNotJSON = errors.New("answer is not a JSON object, or was cut short")
	// ErrNotAnswer says that a whole answer is a JSON object, but neither an answer
	// in the format that was asked for nor an error.
	ErrNotAnswer = errors.New("answer is not in the format that was asked for")
)
