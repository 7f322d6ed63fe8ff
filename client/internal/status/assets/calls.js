// The last calls with their attempts, drawn against one clock for each call.

const mostCalls = 200, mostDrawn = 40;
let calls = [], held = null; // held: those that were there when it was paused

const wanted = new Map([
  ['all', () => true],
  ['tries', c => c.attempts.length > 1],
  ['failed', c => c.outcome !== 'completed'],
  ['reason', c => c.reason !== ''],
]);

function addCalls(fresh, first) {
  if (first) calls = [];
  calls = fresh.concat(calls).slice(0, mostCalls);
}

function drawCalls() {
  const all = held || calls;
  const filter = wanted.get(document.getElementById('filter').value) || wanted.get('all');
  const shown = all.filter(filter).slice(0, mostDrawn);
  keyed(document.getElementById('calls'), shown, c => c.id, drawCall);
  const none = document.getElementById('calls-none');
  none.hidden = shown.length > 0;
  put(none, all.length ? 'None of the last calls is like that.' : 'No call has ended yet.');
}

const outcomeKinds = new Map([['completed', 'good'], ['cancelled', ''], ['lost', ''], ['failed', 'bad'], ['timed_out', 'bad']]);

function drawCall(c) {
  const head = el('div', 'head',
    el('time', '', clock(c.at)), el('b', '', name(c.endpoint)), name(c.model),
    c.target ? el('span', '', '→ ', name(c.target)) : null,
    pill(c.outcome.replace('_', ' '), outcomeKinds.get(c.outcome) || ''),
    c.finish_reason && c.finish_reason !== 'stop' ? pill(c.finish_reason + (c.starved ? ', starved' : ''), c.starved ? 'bad' : 'warn') : null,
    el('span', 'figures', callFacts(c)));
  const call = el('article', 'call', head);
  const span = Math.max(1, c.total_ms, ...c.attempts.map(a => a.start_ms + a.total_ms));
  if (c.attempts.length) call.append(el('div', 'lanes', ...c.attempts.map((a, i) => lane(a, i, span))));
  if (c.attempts_left_out) call.append(el('p', 'say', `and ${many(c.attempts_left_out, 'more attempt')}`));
  if (c.error && !c.attempts.some(a => a.error === c.error)) call.append(el('p', 'say', name(c.error)));
  if (c.fallback) call.append(el('p', 'say', 'Fell back to: ', name(c.fallback)));
  if (c.planned && c.planned !== c.target) call.append(el('p', 'say', 'Planned: ', name(c.planned)));
  if (c.reason) call.append(el('p', 'say', el('b', '', 'Why '), name(c.reason)));
  return call;
}

function callFacts(c) {
  const facts = [];
  if (c.ttft_ms !== null) facts.push(`first content ${time(c.ttft_ms)}`);
  if (c.tpot_ms !== null) facts.push(`${time(c.tpot_ms)}/token`);
  facts.push(`total ${time(c.total_ms)}`);
  if (c.waited_ms >= 1) facts.push(`waited ${time(c.waited_ms)}`);
  if (c.tokens.output) facts.push(many(c.tokens.output, 'token'));
  if (c.cost_usd) facts.push(money(c.cost_usd));
  return facts.join(' · ');
}

// lane is one attempt: who, its bar, and how it ended.
function lane(a, index, span) {
  const kind = a.hedge ? 'hedge' : index ? 'failover' : '';
  return el('div', 'lane',
    el('span', 'who', name(a.target), a.fallback ? el('span', 'soft', ' ', name(a.fallback)) : null, kind ? el('span', 'soft', ' ' + kind) : null),
    el('span', 'track-cell', bar(a, span)),
    el('span', 'end', name(laneEnd(a))));
}

function laneEnd(a) {
  const parts = [a.outcome === 'lost' ? 'lost, cancelled' : a.outcome.replace('_', ' ')];
  parts[0] += ` at ${time(a.start_ms + a.total_ms)}`;
  if (a.error && a.outcome !== 'lost') parts.push(a.error);
  if (a.served_model && a.served_model !== a.model) parts.push('as ' + a.served_model);
  if (a.warning) parts.push(a.warning);
  return parts.join(', ');
}

function bar(a, span) {
  const x = t => 1000 * Math.min(1, t / span), end = a.start_ms + a.total_ms;
  const part = (kind, from, to) => shape('rect', kind, {x: x(from), y: 1, width: Math.max(2, x(to) - x(from)), height: 8});
  const parts = [shape('rect', 'track', {x: 0, y: 4, width: 1000, height: 2})];
  const given = a.outcome === 'lost' || a.outcome === 'cancelled';
  const headers = a.start_ms + Math.min(a.headers_ms === null ? a.total_ms : a.headers_ms, a.total_ms);
  const content = a.ttft_ms === null ? null : a.start_ms + a.ttft_ms;
  parts.push(part(given ? 'lost' : 'wait', a.start_ms, headers));
  if (headers < end || content !== null) parts.push(part(given ? 'lost' : 'think', headers, content === null ? end : content));
  if (content !== null) parts.push(part('flow', content, end));
  if (a.headers_ms !== null) parts.push(mark(x(headers)));
  if (content !== null) parts.push(mark(x(content)));
  if (a.outcome === 'failed' || a.outcome === 'timed_out') parts.push(shape('rect', 'bad', {x: Math.max(0, x(end) - 8), y: 0, width: 8, height: 10}));
  const told = [`starts at ${time(a.start_ms)}`, a.headers_ms === null ? '' : `headers at ${time(headers)}`,
    content === null ? '' : `first content at ${time(content)}`, `ends at ${time(end)}`];
  return picture(1000, 10, told.filter(Boolean).join(', '), ...parts);
}

function mark(x) { return shape('line', 'mark', {x1: x, x2: x, y1: 0, y2: 10}); }

document.getElementById('filter').addEventListener('change', drawCalls);
document.getElementById('pause').addEventListener('click', e => {
  held = held ? null : calls;
  e.currentTarget.setAttribute('aria-pressed', String(held !== null));
  put(e.currentTarget, held ? 'Go on' : 'Pause');
  drawCalls();
});
