package router

// Cost is what an answer costs in USD, by its tokens; input includes cached.
// Without a price for cached tokens they cost what the others do.
func (p Price) Cost(input, cached, output int) float64 {
	const million = 1e6
	cachedPrice := p.CachedInput
	if cachedPrice == 0 {
		cachedPrice = p.Input
	}
	uncached := max(input-cached, 0)
	return (float64(uncached)*p.Input + float64(cached)*cachedPrice + float64(output)*p.Output) / million
}
