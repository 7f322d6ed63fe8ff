// Endpoints, routes and pairs.

const stateKinds = new Map([
  ['ok', 'good'], ['no data', ''], ['degraded', 'warn'], ['cooling down', 'warn'],
  ['half-open', 'warn'], ['open', 'bad'], ['key refused', 'bad'],
]);

const keptDebt = 0.2; // up to that a promise is kept: a miss now and then is allowed

function drawEndpoints(endpoints) {
  // Those that promised something come first.
  const order = [...endpoints].sort((a, b) => (b.layers.length > 1) - (a.layers.length > 1));
  keyed(document.getElementById('endpoints'), order, e => e.name, e => {
    const card = el('article', 'card',
      el('div', 'head', el('h3', '', name(e.name)), el('span', 'soft', endpointFacts(e))),
      layerTable(e.layers));
    if (e.hedge.share > 0 && (e.layers.length > 1 || e.hedge.started)) card.append(el('p', 'say', hedgeFacts(e.hedge)));
    if (e.choice) {
      card.append(el('p', 'say', el('b', '', 'Latest choice '), `${clock(e.choice.at)}, `, name(e.choice.model), ': ', name(e.choice.reason)));
    }
    if (e.advice.length) card.append(el('div', 'advice', el('b', '', 'Advice'), el('ul', '', ...e.advice.map(a => el('li', '', name(adviceText(a)))))));
    return card;
  });
}

function endpointFacts(e) {
  const c = e.calls, all = c.completed + c.failed + c.timed_out + c.cancelled;
  const facts = [many(all, 'call')];
  if (c.failed + c.timed_out) facts.push(`${count(c.failed + c.timed_out)} failed`);
  if (c.cancelled) facts.push(`${count(c.cancelled)} cancelled`);
  if (e.truncated) facts.push(`${count(e.truncated)} ended by a cap`);
  if (e.starved) facts.push(`${count(e.starved)} starved`);
  if (e.tokens.output) facts.push(`${count(e.tokens.input)} + ${count(e.tokens.output)} tokens`);
  if (e.cost_usd) facts.push(money(e.cost_usd) + (e.lost_cost_usd ? ` (${money(e.lost_cost_usd)} for lost hedges)` : ''));
  return facts.join(' · ');
}

function hedgeFacts(h) {
  return `Hedges: ${count(h.started)} started, ${count(h.won)} won` + (h.refused ? `, ${count(h.refused)} refused` : '') +
    `; up to ${percent(h.share)} of the calls, ${h.tokens.toFixed(0)} of ${h.burst.toFixed(0)} saved up`;
}

// The text of an advice has what it saves, and how sure that is.
function adviceText(a) { return `${a.text} From ${many(a.calls, 'call')}.`; }

function layerTable(layers) {
  const row = (tag, cells) => el('tr', '', ...cells.map(([text, kind]) => el(tag, kind || '', text)));
  const body = layers.map(l => {
    const broken = l.burn > 1 ? 'off' : '', behind = l.debt > keptDebt ? 'behind' : '';
    const late = l.limit_ms !== null && (l.measured_ms === 'unbounded' || l.measured_ms > l.limit_ms) ? 'off' : '';
    return row('td', [
      [name(l.name)], [time(l.measured_ms), late], [gauge(l), 'gauge'],
      [percent(l.attainment, l.percentile > 99 ? 2 : 1)], [l.burn.toFixed(2), broken], [l.debt.toFixed(2), behind],
    ]);
  });
  return el('table', '',
    el('thead', '', row('th', [['promise'], ['measured'], ['', 'gauge'], ['kept'], ['burn'], ['debt']])),
    el('tbody', '', ...body));
}

// gauge shows what was measured beside the limit, which stands at two thirds.
function gauge(l) {
  if (l.limit_ms === null || l.measured_ms === null) return '';
  const v = l.measured_ms === 'unbounded' ? 150 : Math.min(150, 100 * l.measured_ms / l.limit_ms);
  return picture(150, 8, `${time(l.measured_ms)} of ${time(l.limit_ms)}`,
    shape('rect', 'track', {x: 0, y: 2, width: 150, height: 4}),
    shape('rect', 'fill' + (v > 100 ? ' over' : ''), {x: 0, y: 2, width: v, height: 4}),
    shape('line', 'limit', {x1: 100, x2: 100, y1: 0, y2: 8}));
}

const mostRoutes = 100, histories = new Map();

function drawRoutes(routes) {
  const shown = routes.slice(0, mostRoutes);
  const keyOf = r => r.target + ' ' + r.model;
  for (const r of shown) {
    if (r.history) histories.set(keyOf(r), r.history);
    else r.history = histories.get(keyOf(r));
  }
  for (const key of [...histories.keys()]) if (!shown.some(r => keyOf(r) === key)) histories.delete(key);
  keyed(document.getElementById('routes'), shown, keyOf, drawRoute);
  const more = document.getElementById('routes-more');
  more.hidden = routes.length <= mostRoutes;
  put(more, `${routes.length - mostRoutes} more are in the JSON.`);
}

function drawRoute(r) {
  const a = r.attempts, all = a.completed + a.failed + a.timed_out + a.cancelled + a.lost;
  const until = r.until ? ` until ${clock(r.until)}` : '';
  const route = el('article', 'route',
    el('div', 'list',
      el('h3', '', name(r.target)),
      el('span', '', name(r.model)),
      el('span', 'soft', name([r.provider, r.region].filter(Boolean).join(' · '))),
      el('span', '', pill(r.state + until, stateKinds.get(r.state) || '')),
      r.why ? el('span', 'soft', name(r.why)) : null),
    metric('TTFT', r.ttft, r.history, 'ttft', `${count(r.prompt_tokens)}-token prompt`),
    metric('TPOT', r.tpot, r.history, 'tpot', 'per token'),
    el('div', 'list',
      el('span', '', `${r.in_flight} in flight`),
      el('span', '', `${percent(r.failures)} fail`),
      el('span', 'soft', `${many(all, 'attempt')}, ${count(a.lost)} lost, ${count(a.failed + a.timed_out)} failed`),
      ...r.keys.map((k, i) => keyLine(k, i, r.keys.length))));
  if (r.changes.length) {
    route.append(el('p', 'say wide', el('b', '', 'Changed '),
      ...r.changes.slice(-3).reverse().flatMap((c, i) => [i ? '; ' : '', `${clock(c.at)} ${c.kind}: `, name(c.from), ' → ', name(c.to)])));
  }
  return route;
}

function metric(label, p, history, key, of) {
  const scale = history ? `, curve to ${time(most(history, key))}` : '';
  return el('div', 'metric',
    el('div', 'label', el('span', '', label), el('span', '', of + scale)),
    el('div', 'figures', ...[['p50', p.p50_ms], ['p95', p.p95_ms], ['p99', p.p99_ms]].map(([q, v]) => el('div', '', el('span', '', q), time(v)))),
    history ? spark(history, key, `${label} in the last 15 minutes`) : null);
}

function keyLine(k, index, keys) {
  if (keys === 1 && k.state === 'ok' && k.left === 1) return null;
  const until = k.until ? ` until ${clock(k.until)}` : '', why = k.why ? ` (${k.why})` : '';
  return el('span', k.state === 'ok' ? 'soft' : 'off', name(`key ${index}: ${k.state}${until}${why}, ${percent(k.left, 0)} left, ${k.in_flight} in flight`));
}

function drawPairs(pairs) {
  const cells = (tag, texts) => el('tr', '', ...texts.map(t => el(tag, '', t)));
  keyed(document.getElementById('pairs'), [pairs], () => 'all', () => el('table', '',
    el('thead', '', cells('th', ['second attempt on', 'factor', 'won', 'predicted'])),
    el('tbody', '', ...pairs.map(p => cells('td', [p.pair, p.factor.toFixed(2), p.won.toFixed(1), p.predicted.toFixed(1)])))));
}
