package otel

// ConventionVersion is the release of github.com/open-telemetry/semantic-conventions-genai
// that this package follows: docs/gen-ai/client-inference.md and client-embeddings.md there.
// The conventions are in development and have no Go bindings, so their names stand here,
// and nowhere else.
const ConventionVersion = "v0.1.0"

// scope is the name of the tracer and of the meter.
const scope = "github.com/ontime-llm/ontime/middleware/otel"

// Attributes of the conventions.
const (
	operationName = "gen_ai.operation.name"
	providerName  = "gen_ai.provider.name"

	requestModel     = "gen_ai.request.model"
	requestStream    = "gen_ai.request.stream"
	requestMaxTokens = "gen_ai.request.max_tokens"

	responseModel            = "gen_ai.response.model"
	responseFinishReasons    = "gen_ai.response.finish_reasons"
	responseTimeToFirstChunk = "gen_ai.response.time_to_first_chunk"

	usageInputTokens     = "gen_ai.usage.input_tokens"
	usageCacheReadTokens = "gen_ai.usage.cache_read.input_tokens"
	usageOutputTokens    = "gen_ai.usage.output_tokens"
	usageReasoningTokens = "gen_ai.usage.reasoning.output_tokens"

	tokenModality = "gen_ai.token.modality"

	serverAddress      = "server.address"
	serverPort         = "server.port"
	errorType          = "error.type"
	httpResponseStatus = "http.response.status_code"
)

// Attributes of our own.
const (
	endpointName  = "ontime.endpoint"
	targetName    = "ontime.target"
	targetRegion  = "ontime.region"
	plannedTarget = "ontime.planned_target"
	fallbackModel = "ontime.fallback_model"
	outcomeName   = "ontime.outcome"
	attemptCount  = "ontime.attempts"
	attemptKind   = "ontime.attempt.kind"
	isHedged      = "ontime.hedged"
	isCapped      = "ontime.capped"
	isStarved     = "ontime.starved"
	costUSD       = "ontime.cost_usd"
	waitedTime    = "ontime.waited"
	firstAnswer   = "ontime.time_to_first_answer"
	perToken      = "ontime.time_per_output_token"
	longestStall  = "ontime.stall"
	errorCode     = "ontime.error.code"
	phaseConnect  = "ontime.phase.connect"
	phaseSend     = "ontime.phase.send"
	phaseNetwork  = "ontime.phase.network"
	phaseQueue    = "ontime.phase.queue"
	phasePrefill  = "ontime.phase.prefill"
	phaseWait     = "ontime.phase.wait"
	phaseDecode   = "ontime.phase.decode"
)

// Events of a call's span.
const (
	hedgeEvent   = "ontime.hedge"
	commitEvent  = "ontime.commit"
	abandonEvent = "ontime.abandon"
)

// Metrics of the conventions.
const (
	inferenceDuration   = "gen_ai.client.inference.duration"
	timeToFirstChunk    = "gen_ai.client.inference.time_to_first_chunk"
	timePerOutputChunk  = "gen_ai.client.inference.time_per_output_chunk"
	inputTokens         = "gen_ai.client.inference.usage.input_tokens"
	cacheReadTokens     = "gen_ai.client.inference.usage.cache_read.input_tokens"
	outputTokens        = "gen_ai.client.inference.usage.output_tokens"
	reasoningTokens     = "gen_ai.client.inference.usage.reasoning.output_tokens"
	callInputTokens     = "gen_ai.client.inference.operation.input_tokens"
	callOutputTokens    = "gen_ai.client.inference.operation.output_tokens"
	embeddingsDuration  = "gen_ai.client.embeddings.duration"
	embeddingsCallInput = "gen_ai.client.embeddings.operation.input_tokens"
)

// The boundaries that the conventions advise: of times in seconds, and of tokens.
var (
	timeBuckets  = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBuckets = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

// Operations, by the format of a call.
var operations = map[string]string{
	"chat":        "chat",
	"responses":   "chat",
	"messages":    "chat",
	"completions": "text_completion",
	"embeddings":  embeddings,
}

const embeddings = "embeddings"

// Providers that the conventions have a name for, by that of ours. Others go by ours.
var providers = map[string]string{
	"azure":   "azure.ai.openai",
	"bedrock": "aws.bedrock",
	"gemini":  "gcp.gemini",
	"mistral": "mistral_ai",
	"vertex":  "gcp.vertex_ai",
	"xai":     "x_ai",
}

// Providers by the end of a host's name, for targets that do not tell.
var hosts = []struct{ suffix, provider string }{
	{"api.openai.com", "openai"},
	{".openai.azure.com", "azure.ai.openai"},
	{"api.anthropic.com", "anthropic"},
	{"generativelanguage.googleapis.com", "gcp.gemini"},
	{"aiplatform.googleapis.com", "gcp.vertex_ai"},
	{".amazonaws.com", "aws.bedrock"},
	{"api.groq.com", "groq"},
	{"api.mistral.ai", "mistral_ai"},
	{"api.deepseek.com", "deepseek"},
	{"api.x.ai", "x_ai"},
	{"api.cohere.com", "cohere"},
	{"api.perplexity.ai", "perplexity"},
	{"api.moonshot.ai", "moonshot_ai"},
}

// Values of attributes.
const (
	unknownModality = "unknown" // providers' usage is not told apart by modality
	finishError     = "error"   // a finish reason was expected and did not come
	otherError      = "_OTHER"
	other           = "other" // stands for all names that there is no room for
)
