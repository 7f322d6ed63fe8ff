// The stream that keeps the page up to date.

const again = 10000; // ms to the next try, where the browser makes none by itself

let first = true, heard = 0, over = false, source = null;

function show(state, text) {
  document.getElementById('live').dataset.state = state;
  put(document.getElementById('live-text'), text);
}

function draw(state) {
  addCalls(state.calls, first);
  first = false;
  drawEndpoints(state.endpoints);
  drawRoutes(state.routes);
  drawPairs(state.pairs);
  drawCalls();
  const flying = state.routes.reduce((n, r) => n + r.in_flight, 0);
  put(document.getElementById('facts'), `${many(state.routes.length, 'route')} · ${flying} in flight · noted since ${clock(state.since)}`);
}

function listen() {
  // The same address: whatever prefix and query it has is the application's.
  const url = new URL(location.href);
  url.searchParams.set('format', 'stream');
  source = new EventSource(url);
  source.addEventListener('open', () => { first = true; });
  source.addEventListener('state', e => {
    const state = JSON.parse(e.data);
    hear(state.at);
    draw(state);
  });
  source.addEventListener('beat', e => hear(JSON.parse(e.data).at));
  source.addEventListener('closed', () => {
    over = true; // until the application has been started anew, perhaps
    source.close();
    show('late', 'the client is closed');
    setTimeout(listen, again);
  });
  source.addEventListener('error', () => {
    if (source.readyState !== EventSource.CLOSED) return; // it tries again by itself
    show('late', 'no connection, or too many are looking; trying again in 10 s');
    setTimeout(listen, again);
  });
}

function hear(at) {
  over = false;
  heard = Date.now();
  show('live', `live, ${clock(at)}`);
}

setInterval(() => {
  if (!over && heard && Date.now() - heard > 4000) show('late', `no news for ${Math.round((Date.now() - heard) / 1000)} s`);
}, 1000);

listen();
