package router

// price is what the target charges for a model.
func (t *Target) price(model string) Price {
	if p, ok := t.Prices[model]; ok {
		return p
	}
	return t.Price
}

// priced tells whether it is known what the target charges.
func (t *Target) priced() bool { return t.Price.known() || len(t.Prices) > 0 }

// Cost is what an answer costs in USD, by its tokens; input includes cached.
// Without a price for cached tokens they cost what the others do.
func (p Price) Cost(input, cached, output int) float64 {
	const million = 1e6
	uncached := max(input-cached, 0)
	return (float64(uncached)*p.Input + float64(cached)*p.cached() + float64(output)*p.Output) / million
}

// cached is the price of prompt tokens that the provider had cached.
func (p *Price) cached() float64 {
	if p.CachedInput == 0 {
		return p.Input
	}
	return p.CachedInput
}
