// Package sdktest compares what package dialect makes of a stream with what
// openai-go makes of it, in tests and benchmarks only. It stands apart so that
// fuzzing dialect does not build the SDK.
package sdktest
