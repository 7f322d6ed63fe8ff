// Looks at a status page with Chromium: node check.mjs URL RESTART. The page has to show
// what the fixture in browser_test.go made up, and to come through it unharmed. RESTART
// starts anew what the page shows.

import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const {chromium} = createRequire(join(process.env.ONTIME_BROWSER, 'package.json'))('playwright-core');
const [, , url, restart] = process.argv, shots = process.env.ONTIME_SHOTS;

// A profile of its own, and nothing that would call home.
const profile = mkdtempSync(join(tmpdir(), 'ontime-chromium-'));
const launch = scheme => chromium.launchPersistentContext(join(profile, scheme), {
  executablePath: process.env.ONTIME_CHROMIUM || '/usr/bin/chromium', headless: true, colorScheme: scheme,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});

// contrasts returns every text whose colour is too near to what lies behind it.
function contrasts() {
  const parse = c => c.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
      if (c[3] > 0) throw new Error('a background that lets through is not reckoned with');
    }
    return [255, 255, 255];
  };
  const bad = [];
  let seen = 0;
  for (const e of document.body.querySelectorAll('*')) {
    const own = [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.textContent.trim());
    if (!own || !e.getClientRects().length || ['SCRIPT', 'NOSCRIPT', 'OPTION'].includes(e.tagName)) continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    seen++;
    if (ratio < 4.5) bad.push(`${ratio.toFixed(2)} for ${e.className || e.tagName} "${e.textContent.slice(0, 40)}"`);
  }
  return {seen, bad};
}

async function look(context, scheme, width) {
  const page = await context.newPage(), complaints = [], elsewhere = [];
  await page.setViewportSize({width, height: 800});
  page.on('console', m => { if (['error', 'warning'].includes(m.type())) complaints.push(m.text()); });
  page.on('pageerror', e => complaints.push(e.message));
  page.on('dialog', d => { complaints.push('a dialog: ' + d.message()); d.dismiss(); });
  page.on('request', r => { if (!r.url().startsWith(url) && !r.url().startsWith('data:')) elsewhere.push(r.url()); });
  const response = await page.goto(url);
  assert.equal(response.status(), 200);

  // It is there, and it lives: the fixture ends a call now and then.
  await page.waitForSelector('.call');
  assert.match(await page.textContent('#live-text'), /^live, /);
  const latest = () => page.textContent('.call .figures');
  const before = await latest();
  await page.waitForFunction(was => document.querySelector('.call .figures').textContent !== was, before, {timeout: 60000});
  assert.equal(await page.locator('.card').count(), 3);
  assert.equal(await page.locator('.route').count(), 7);
  assert.ok(await page.locator('.spark .p50').count() >= 2, 'no history is drawn');
  for (const text of ['p95 TTFT 600ms', '∞', 'cooling down', 'key refused', 'lost, cancelled', 'hedge', 'Why', 'Changed', 'Prompts are long.']) {
    assert.ok((await page.textContent('main')).includes(text), `the page does not show ${text}`);
  }

  // An advice says itself what it saves, and a debt that every promise has now and then is no alarm.
  assert.equal(await page.textContent('.advice li'), 'Prompts are long. From 800 calls.');
  assert.deepEqual(await page.locator('.behind').allTextContents(), ['12.25', '1.20'], 'other debts stand out');
  assert.ok((await page.textContent('#calls')).includes('< $0.000001'), 'a cost has an exponent');

  // Names are text, whatever is in them.
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.equal(await page.locator('main img, main script, main iframe, main a').count(), 0);
  assert.ok((await page.textContent('#calls')).includes('<img src=x onerror="harmed=1">'), 'the hostile name is not shown as it is');
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('.call bdi')).unicodeBidi), 'isolate');

  const [scroll, inner] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(scroll <= inner, `at ${width} px it scrolls sideways: ${scroll}`);
  const out = await page.evaluate(() => [...document.querySelectorAll('.card, .route, .call, .pairs')]
    .filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent.slice(0, 60)));
  assert.deepEqual(out, [], `at ${width} px something does not fit its box`);
  const {seen, bad} = await page.evaluate(contrasts);
  assert.ok(seen > 100, `only ${seen} texts`);
  assert.deepEqual(bad, [], `hard to read in ${scheme}`);

  // The controls work without a handler in the page.
  await page.selectOption('#filter', 'failed');
  for (const outcome of await page.locator('.call .head .pill').allTextContents()) assert.notEqual(outcome, 'completed');
  await page.selectOption('#filter', 'all');
  await page.click('#pause');
  const held = await latest();
  await page.waitForTimeout(1500);
  assert.equal(await latest(), held, 'it moves though it is paused');
  await page.selectOption('#filter', 'tries');
  assert.equal(await page.locator('.call').filter({hasNot: page.locator('.lane:nth-child(2)')}).count(), 0, 'a pause ignores the filter');
  await page.selectOption('#filter', 'all');
  await page.click('#pause');

  if (shots) {
    await page.screenshot({path: join(shots, `${scheme}-${width}.png`), fullPage: true});
  }
  assert.deepEqual(complaints, [], 'the console has complaints');
  assert.deepEqual(elsewhere, [], 'it asks others');
  await page.close();
  console.log(`${scheme}, ${width} px: well, ${seen} texts`);
}

// A page that is left open is live again after the application was started anew.
async function outlive(context) {
  const page = await context.newPage();
  const says = text => page.waitForFunction(t => document.getElementById('live-text').textContent.startsWith(t), text, {timeout: 60000});
  await page.goto(url);
  await says('live, ');
  assert.equal((await context.request.get(restart)).status(), 200);
  await says('the client is closed');
  await says('live, ');
  await page.waitForSelector('.call');
  await page.close();
  console.log('a restart: well');
}

try {
  for (const scheme of ['light', 'dark']) {
    const context = await launch(scheme);
    try {
      for (const width of [1280, 375]) await look(context, scheme, width);
      if (scheme === 'dark') await outlive(context);
    } finally {
      await context.close();
    }
  }
} finally {
  rmSync(profile, {recursive: true, force: true});
}
