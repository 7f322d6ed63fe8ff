package metrics

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// The metrics of what the router knows, read when they are asked for.
var (
	targetInfo = state("target_info", "1, with what each target is", "target", "provider", "region")

	routeState    = state("route_state", "1 for the state that a route is in, 0 for the others", "target", "model", "state")
	routeInFlight = state("route_in_flight", "attempts under way", "target", "model")
	routeFailures = state("route_failure_ratio", "share of attempts that fail, recent ones", "target", "model")
	routeTTFT     = state("route_ttft_seconds", "percentiles of the time to first content, for the route's typical prompt", "target", "model", "percentile")
	routeTPOT     = state("route_tpot_seconds", "percentiles of the time per output token", "target", "model", "percentile")
	routeTotal    = state("route_total_seconds", "percentiles of the time for a typical prompt and an answer of 200 tokens in one piece", "target", "model", "percentile")
	routeCoverage = state("route_coverage_ratio", "share of attempts within the percentile that was predicted for them: less than it says is too slow", "target", "model", "metric", "percentile")
	routeCacheHit = state("route_cache_hit_ratio", "share of the prompt tokens seen within 5 minutes that came from the provider's cache; 0.5 before the first", "target", "model")
	routeChanges  = state("route_changes_total", "times that a route was noticed to answer with another model, or with another median TTFT or TPOT", "target", "model", "kind")
	routeOpenings = state("route_openings_total", "times that the route's breaker opened", "target", "model")
	routeCooling  = state("route_cooldowns_total", "times that the provider said to wait, one for all refusals of a key until that time is over", "target", "model")

	keyCooldown = state("key_cooldown_seconds", "rest of the time for which the provider said to wait", "target", "model", "key")
	keyRefused  = state("key_refused", "1 if the provider does not take the key, else 0", "target", "model", "key")
	keyHeadroom = state("key_headroom_ratio", "what is left of the provider's rate limit; 1 if not known", "target", "model", "key")

	layerLimit      = state("layer_limit_seconds", "limit of a layer; none for answered", "endpoint", "layer")
	layerAllowed    = state("layer_allowed_ratio", "share of calls that may miss the layer", "endpoint", "layer")
	layerCalls      = state("layer_calls_total", "calls that the layer has judged", "endpoint", "layer")
	layerMisses     = state("layer_misses_total", "of them, those that missed it", "endpoint", "layer")
	layerAttainment = state("layer_attainment_ratio", "share of calls that kept the layer since the start; 1 before the first", "endpoint", "layer")
	layerBurn       = state("layer_burn_ratio", "share of misses since the start over the share that is allowed: above 1 the promise is broken", "endpoint", "layer")
	layerDebt       = state("layer_debt", "how far the layer is behind its promise lately, 0 to 50", "endpoint", "layer")

	hedgesStarted = state("hedges_started_total", "hedges that were started", "endpoint")
	hedgesWon     = state("hedges_won_total", "of them, those that brought content first", "endpoint")
	hedgesRefused = state("hedges_refused_total", "hedges that were due and no longer allowed", "endpoint")
	hedgeShare    = state("hedge_share_ratio", "share of the endpoint's calls that may be hedged", "endpoint")
	hedgeTokens   = state("hedge_tokens", "hedges that may be started at once", "endpoint")
	hedgePrice    = state("hedge_price", "what a hedge has to gain: 0.02 while there are tokens enough, 50 when there are none", "endpoint")

	sharedUp       = state("shared_up", "1 if the latest exchange with other replicas went well, else 0")
	sharedReplicas = state("shared_replicas", "other replicas that were heard of within a minute")
	sharedAge      = state("shared_age_seconds", "time since the latest exchange that went well; infinite before the first")
	sharedErrors   = state("shared_errors_total", "exchanges with other replicas that failed")
	sharedBlobs    = state("shared_blobs_total", "blobs that were published, merged, or ignored", "result")

	stateDescs = []*prometheus.Desc{
		targetInfo, routeState, routeInFlight, routeFailures, routeTTFT, routeTPOT, routeTotal,
		routeCoverage, routeCacheHit, routeChanges, routeOpenings, routeCooling,
		keyCooldown, keyRefused, keyHeadroom,
		layerLimit, layerAllowed, layerCalls, layerMisses, layerAttainment, layerBurn, layerDebt,
		hedgesStarted, hedgesWon, hedgesRefused, hedgeShare, hedgeTokens, hedgePrice,
		sharedUp, sharedReplicas, sharedAge, sharedErrors, sharedBlobs,
	}

	routeStates = []string{
		router.StateOK, router.StateNoData, router.StateDegraded, router.StateCooling,
		router.StateHalfOpen, router.StateOpen, router.StateKeyRefused,
	}
	stateLabel = strings.NewReplacer(" ", "_", "-", "_")
)

func state(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

func describeState(to chan<- *prometheus.Desc) {
	for _, d := range stateDescs {
		to <- d
	}
}

// collectState turns a snapshot into metrics.
func collectState(s router.Snapshot, to chan<- prometheus.Metric) {
	c := collector{to: to, at: s.At}
	told := map[string]bool{}
	for i := range s.Routes {
		r := &s.Routes[i]
		r.Model, r.Provider, r.Region = valid(r.Model), valid(r.Provider), valid(r.Region)
		if !told[r.Target] {
			told[r.Target] = true
			c.gauge(targetInfo, 1, r.Target, r.Provider, r.Region)
		}
		c.route(r)
		for k := range r.Keys {
			c.key(&r.Keys[k], r.Target, r.Model, strconv.Itoa(k))
		}
	}
	for i := range s.Endpoints {
		for _, l := range s.Endpoints[i].Layers {
			c.layer(&l, s.Endpoints[i].Name)
		}
		c.hedges(&s.Endpoints[i].Hedge, s.Endpoints[i].Name)
	}
	c.shared(&s.Shared)
}

// collector writes the metrics of one snapshot.
type collector struct {
	to chan<- prometheus.Metric
	at time.Time
}

func (c *collector) gauge(d *prometheus.Desc, v float64, labels ...string) {
	c.to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (c *collector) counter(d *prometheus.Desc, v uint64, labels ...string) {
	c.to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
}

func (c *collector) route(r *router.RouteStatus) {
	for _, name := range routeStates {
		c.gauge(routeState, flag(r.State == name), r.Target, r.Model, stateLabel.Replace(name))
	}
	c.gauge(routeInFlight, float64(r.InFlight), r.Target, r.Model)
	c.gauge(routeFailures, r.Failures, r.Target, r.Model)
	c.percentiles(routeTTFT, r, &r.TTFT)
	c.percentiles(routeTPOT, r, &r.TPOT)
	c.percentiles(routeTotal, r, &r.Total)
	c.coverage(r, "ttft", &r.Calibration.TTFT)
	c.coverage(r, "total", &r.Calibration.Total)
	c.gauge(routeCacheHit, r.CacheHits, r.Target, r.Model)
	c.counter(routeChanges, r.Changed.Model, r.Target, r.Model, router.ChangeModel)
	c.counter(routeChanges, r.Changed.TTFT, r.Target, r.Model, router.ChangeTTFT)
	c.counter(routeChanges, r.Changed.TPOT, r.Target, r.Model, router.ChangeTPOT)
	c.counter(routeOpenings, r.Openings, r.Target, r.Model)
	c.counter(routeCooling, r.Cooldowns, r.Target, r.Model)
}

// coverage is that of a route that has been predicted and seen.
func (c *collector) coverage(r *router.RouteStatus, metric string, v *router.Coverage) {
	if v.N == 0 {
		return
	}
	c.gauge(routeCoverage, v.P50, r.Target, r.Model, metric, "p50")
	c.gauge(routeCoverage, v.P95, r.Target, r.Model, metric, "p95")
	c.gauge(routeCoverage, v.P99, r.Target, r.Model, metric, "p99")
}

func (c *collector) percentiles(d *prometheus.Desc, r *router.RouteStatus, p *router.Percentiles) {
	c.gauge(d, seconds(p.P50), r.Target, r.Model, "p50")
	c.gauge(d, seconds(p.P95), r.Target, r.Model, "p95")
	c.gauge(d, seconds(p.P99), r.Target, r.Model, "p99")
}

func (c *collector) key(k *router.KeyStatus, target, model, index string) {
	cooldown := 0.0
	if k.State == router.StateCooling {
		cooldown = max(k.Until.Sub(c.at).Seconds(), 0)
	}
	c.gauge(keyCooldown, cooldown, target, model, index)
	c.gauge(keyRefused, flag(k.State == router.StateKeyRefused), target, model, index)
	c.gauge(keyHeadroom, k.Left, target, model, index)
}

func (c *collector) layer(l *budget.LayerStatus, endpoint string) {
	name := l.Metric.String()
	if l.Metric != budget.Answered {
		name += "_p" + strconv.FormatFloat(l.Percentile, 'g', -1, 64)
		c.gauge(layerLimit, l.Limit.Seconds(), endpoint, name)
	}
	c.gauge(layerAllowed, l.Allowed(), endpoint, name)
	c.counter(layerCalls, l.Calls, endpoint, name)
	c.counter(layerMisses, l.Missed, endpoint, name)
	c.gauge(layerAttainment, l.Attainment(), endpoint, name)
	c.gauge(layerBurn, l.Burn(), endpoint, name)
	c.gauge(layerDebt, l.Debt, endpoint, name)
}

// hedges are those of an endpoint that allows them.
func (c *collector) hedges(h *router.HedgeStatus, endpoint string) {
	if h.Share == 0 {
		return
	}
	c.counter(hedgesStarted, h.Started, endpoint)
	c.counter(hedgesWon, h.Won, endpoint)
	c.counter(hedgesRefused, h.Refused, endpoint)
	c.gauge(hedgeShare, h.Share, endpoint)
	c.gauge(hedgeTokens, h.Tokens, endpoint)
	c.gauge(hedgePrice, h.Price, endpoint)
}

// shared is how replicas share, where they do.
func (c *collector) shared(s *router.SharedStatus) {
	if !s.On {
		return
	}
	age := math.Inf(1)
	if !s.LastSync.IsZero() {
		age = max(c.at.Sub(s.LastSync).Seconds(), 0)
	}
	c.gauge(sharedUp, flag(!s.Lost))
	c.gauge(sharedReplicas, float64(s.Replicas))
	c.gauge(sharedAge, age)
	c.counter(sharedErrors, s.Errors)
	c.counter(sharedBlobs, s.Published, "published")
	c.counter(sharedBlobs, s.Merged, "merged")
	c.counter(sharedBlobs, s.Ignored, "ignored")
}

// seconds is infinite for what is beyond all that was seen.
func seconds(d time.Duration) float64 {
	if d == router.Unbounded {
		return math.Inf(1)
	}
	return d.Seconds()
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}
