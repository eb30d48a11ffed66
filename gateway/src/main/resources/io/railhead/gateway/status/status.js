// Draws /status.json every two seconds. What comes from it may have been named by a client:
// it becomes text nodes and numbers, never markup.
'use strict';

const EVERY_MS = 2000;
const PATIENCE_MS = 5000;
const SVG = 'http://www.w3.org/2000/svg';
const PATHS = {
  loopback: 'Shared memory (loopback)', verbs: 'RDMA (verbs)', dc: 'RDMA (DC)', http_hit: 'Hits over HTTP',
  http_miss: 'Misses over HTTP', relayed: 'Relayed uncached', store: 'Fetched from the stores',
};
const USES = ['free', 'filling', 'held', 'leased', 'condemned', 'reserve'];
const USED_FOR = {
  free: 'nothing is in it', filling: 'bytes are on their way', held: 'cached, nobody reads it now',
  leased: 'cached, being read now', condemned: 'evicted, still being read', reserve: 'lent to one transfer',
};
const REASONS = {
  anonymous: 'who asks is not known', authentication: 'signatures are not verified here', permission: 'the principal may not: rdma_get, rdma_put',
  rule: 'a rule says rdma: off', uncacheable: 'the object cannot be cached', fabric: 'its fabric is down or not served',
  slow: 'no byte was there by rdma.decide_timeout', memory: 'no memory was free', session: 'its session is not known',
  suspended: 'too many faulty tokens of this principal', draining: 'the gateway was starting or draining', store: 'the store did not answer',
  busy: 'no way to its target was free', cleartext: 'several tenants need TLS', dc_key: 'several tenants need a DC key of their own',
  changed: 'the object changed meanwhile', empty: 'there was nothing to send', ofi1: 'tokens of libfabric clients are not served',
  cuobj: 'tokens of cuObject clients are not served', hipobj: 'tokens of hipObject clients are not served',
  'rdma-info': 'tokens of this kind are not served', meta: 'tokens of this kind are not served', scality: 'tokens of this kind are not served',
};

let latest = null;
let heardAt = null;
let pointed = null;
let next = null;

const byId = id => document.getElementById(id);

/** An element; strings among the children become text nodes. */
function make(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children.filter(child => child !== null));
  return element;
}

function show(id, ...children) {
  byId(id).replaceChildren(...children.filter(child => child !== null));
}

/* ---- figures ---- */

function scaled(value, step, units) {
  let unit = 0;
  while (Math.abs(value) >= step && unit < units.length - 1) { value /= step; unit++; }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toFixed(digits) + units[unit];
}

const bytes = value => scaled(value, 1024, [' B', ' KiB', ' MiB', ' GiB', ' TiB', ' PiB']);
const rate = value => bytes(value) + '/s';
const count = value => value < 1e6 ? value.toLocaleString('en') : scaled(value, 1000, ['', ' k', ' M', ' G', ' T']);
const many = (value, one) => count(value) + ' ' + one + (value === 1 ? '' : 's');
const percent = part => part > 0.9995 || part === 0 ? Math.round(part * 100) + ' %' : (part * 100).toFixed(1) + ' %';
const share = (part, whole) => whole > 0 ? part / whole : 0;
const clock = millis => new Date(millis).toLocaleTimeString([], { hour12: false });

function seconds(value) {
  if (value === null) return '–';
  if (value < 1e-3) return Math.round(value * 1e6) + ' µs';
  return value < 1 ? (value * 1e3).toFixed(value < 0.01 ? 1 : 0) + ' ms' : value.toFixed(1) + ' s';
}

function span(value) {
  if (value < 90) return Math.round(value) + ' s';
  if (value < 5400) return Math.round(value / 60) + ' min';
  return value < 129600 ? (value / 3600).toFixed(1) + ' h' : Math.round(value / 86400) + ' days';
}

const inSpan = status => 'last ' + span(Math.max(1, status.recent.seconds));

/* ---- charts ---- */

/** Points of a polyline over [0, 1] × [0, 1], the newest at the right edge. */
function points(values, slots, top) {
  return values.map((value, i) => [1 - (values.length - 1 - i) / (slots - 1), 1 - share(value, top)]);
}

const path = at => at.map(([x, y], i) => (i ? 'L' : 'M') + (x * 1000).toFixed(1) + ' ' + (y * 1000).toFixed(1)).join('');

function between(upper, lower) {
  return path(upper) + path([...lower].reverse()).replace('M', 'L') + 'Z';
}

const canvas = (label, ...children) =>
  svg('svg', { viewBox: '0 0 1000 1000', preserveAspectRatio: 'none', role: 'img', 'aria-label': label }, ...children);

function spark(values, top, kind, label) {
  const known = values.map(value => value === null ? 0 : value);
  if (known.length < 2) return make('div', { class: 'spark' });
  const at = points(known, known.length, top);
  const floor = at.map(([x]) => [x, 1]);
  return make('div', { class: 'spark' }, canvas(label,
    svg('path', { class: 'area ' + kind, d: between(at, floor) }),
    svg('path', { class: 'line ' + kind, d: path(at) })));
}

/** The next round figure at or above. */
function roundUp(value) {
  let unit = 1024;
  while (unit * 1024 <= value) unit *= 1024;
  return [1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024].map(n => n * unit).find(n => n >= value) || value;
}

function drawThroughput(status) {
  const { paths, store, interval_millis: interval, to_millis: to } = status.history;
  const names = Object.keys(paths);
  const length = store.length;
  const sums = store.map((_, i) => names.reduce((sum, name) => sum + paths[name][i], 0));
  const top = roundUp(Math.max(1024, ...sums, ...store));
  const slots = Math.max(2, length);
  const shapes = [0.25, 0.5, 0.75].map(y => svg('line', { class: 'grid', x1: 0, x2: 1000, y1: y * 1000, y2: y * 1000 }));
  let below = new Array(length).fill(0);
  for (const name of names) {
    const above = below.map((sum, i) => sum + paths[name][i]);
    if (length > 1) {
      shapes.push(svg('path', { class: 'area p-' + name, d: between(points(above, slots, top), points(below, slots, top)) }));
    }
    below = above;
  }
  if (length > 1) {
    const line = path(points(store, slots, top));
    shapes.push(svg('path', { class: 'line casing', d: line }), svg('path', { class: 'line store', d: line }));
  }
  if (pointed !== null && pointed < length) {
    const x = points(store, slots, top)[pointed][0] * 1000;
    shapes.push(svg('line', { class: 'cursor', x1: x, x2: x, y1: 0, y2: 1000 }));
  }
  const ticks = [0.25, 0.5, 0.75].map(y => {
    const tick = make('span', { class: 'tick' }, rate(top * (1 - y)));
    tick.style.top = `calc((100% - 20px) * ${y})`;
    return tick;
  });
  const from = to - Math.max(0, length - 1) * interval;
  show('throughput', canvas('Delivered bytes by path, stacked, and what was fetched from the stores, dashed', ...shapes), ...ticks,
    make('div', { class: 'times' }, make('span', {}, clock(from)), make('span', {}, clock((from + to) / 2)), make('span', {}, clock(to))));
  drawPaths(status, pointed !== null && pointed < length ? pointed : length - 1);
  byId('moment').textContent = pointed !== null && pointed < length
    ? 'at ' + clock(to - (length - 1 - pointed) * interval) : 'delivered by path, stacked; dashed: fetched from the stores';
}

function drawPaths(status, at) {
  const series = { ...status.history.paths, store: status.history.store };
  const average = values => values.length ? values.reduce((a, b) => a + b, 0) / values.length : 0;
  const rows = Object.entries(series).filter(([name, values]) => name !== 'relayed' || values.some(value => value > 0)).map(([name, values]) =>
    make('tr', { 'data-path': name }, make('td', {}, make('i', { class: 'key p-' + name }), PATHS[name] || name),
      make('td', { class: 'number' }, rate(at < 0 ? 0 : values[at])),
      make('td', { class: 'number' }, rate(average(values))),
      make('td', { class: 'number roomy' }, rate(Math.max(0, ...values)))));
  show('paths', make('tr', {}, make('th', {}, 'Path'), make('th', { class: 'number' }, pointed === null ? 'Now' : 'Then'),
    make('th', { class: 'number' }, 'Average'), make('th', { class: 'number roomy' }, 'Peak')), ...rows);
}

/* ---- the four questions ---- */

function tile(id, figure, unit, verdict, kind, notes, ...more) {
  show(id, byId(id).querySelector('h2'), make('p', { class: 'big' }, figure, unit ? make('small', {}, ' ' + unit) : null),
    make('p', { class: 'verdict ' + kind }, verdict), ...notes.map(note => make('p', { class: 'note' }, note)), ...more);
}

/** What goes wrong, the worst first; null if nothing does. */
function failing({ recent, backends }) {
  const away = backends.filter(backend => backend.endpoints.length > 0 && backend.healthy_endpoints === 0);
  if (away.length) return 'Out of reach: ' + away.map(backend => backend.name).join(', ') + '; only what is held is served';
  const failed = share(recent.failed, recent.answered);
  return failed >= 0.01 ? percent(failed) + ' of requests failed' : null;
}

function drawHelping(status) {
  const { recent, total, history } = status;
  const reads = recent.hits + recent.misses;
  const ratio = share(recent.hits, reads);
  const ever = total.hits + total.misses;
  const wrong = failing(status);
  const worst = Math.max(0, ...history.error_ratio);
  const verdict = wrong ? [wrong, 'bad'] : reads === 0 ? ['Nothing was read', '']
    : ratio >= 0.5 ? ['Spared the stores ' + bytes(recent.spared_bytes), 'good']
      : ['Most reads still go to a store', 'warn'];
  tile('helping', reads ? percent(ratio) : '–', 'of reads hit', verdict[0], verdict[1],
    [inSpan(status) + ': ' + many(recent.hits, 'hit') + ', ' + count(recent.misses) + (recent.misses === 1 ? ' miss' : ' misses'),
      'since the start: ' + (ever ? percent(share(total.hits, ever)) : '–') + ', spared ' + bytes(total.spared_bytes),
      recent.answered ? count(recent.failed) + ' of ' + many(recent.answered, 'request') + ' over HTTP failed: ' + percent(share(recent.failed, recent.answered)) : 'no request over HTTP'],
    spark(history.hit_ratio, 1, 'ratio', 'Hit ratio over time'),
    worst > 0 ? spark(history.error_ratio, Math.max(0.01, worst), 'errors', 'Error rate over time, at most ' + percent(worst)) : null);
}

function drawRdma(status) {
  const { recent, total, history, fabrics, declines } = status;
  const reasons = Object.entries(declines);
  const part = share(recent.one_sided_bytes, recent.delivered_bytes);
  const usable = fabrics.filter(fabric => fabric.usable).map(fabric => fabric.name);
  const network = usable.some(name => name !== 'loopback');
  let verdict;
  if (recent.one_sided_bytes > 0) verdict = ['Yes, by ' + fabrics.filter(f => f.bytes_written + f.bytes_read > 0).map(f => f.name).join(' and '), 'good'];
  else if (usable.length === 0) verdict = ['No: no fabric can be used', 'bad'];
  else if (reasons.length) verdict = ['No: ' + (REASONS[reasons[0][0]] || reasons[0][0]), 'warn'];
  else verdict = ['No: no client has asked for it', ''];
  const names = Object.keys(history.paths).filter(name => fabrics.some(fabric => fabric.name === name));
  const sums = history.store.map((_, i) => names.reduce((sum, name) => sum + history.paths[name][i], 0));
  const declined = reasons.reduce((sum, [, times]) => sum + times, 0);
  tile('rdma', recent.delivered_bytes ? percent(part) : '–', 'of bytes one-sided', verdict[0], verdict[1],
    [declined ? count(declined) + ' declined, most often: ' + reasons[0][0] : 'none declined',
      network || usable.length === 0 ? 'since the start: ' + bytes(total.one_sided_bytes) + ' one-sided'
        : 'only shared memory: no RDMA adapter is used'],
    spark(sums, Math.max(1, ...sums), 'one-sided', 'One-sided bytes per second over time'));
}

function drawSize(status) {
  const { memory, recent } = status;
  const room = memory.capacity_bytes - memory.reserve_bytes;
  const used = share(room - memory.free_bytes, room);
  const evicting = share(recent.evicted_pages, recent.seconds);
  const growing = memory.capacity_bytes < memory.configured_bytes * 0.99;
  let verdict;
  if (recent.shortages > 0) verdict = ['Too small: ' + many(recent.shortages, 'read') + ' found no memory', 'bad'];
  else if (growing) verdict = ['Still being taken from the system', 'warn'];
  else if (evicting > 0) {
    const ratio = share(recent.hits, recent.hits + recent.misses);
    verdict = ratio < 0.5 ? ['Likely too small: it evicts, and most reads miss', 'warn'] : ['Full, and most reads still hit', 'good'];
  } else verdict = ['There is room left', 'good'];
  tile('size', percent(used), 'of ' + bytes(room), verdict[0], verdict[1],
    [many(memory.objects, 'object') + ' known, ' + many(memory.pages, 'page') + ' held',
      inSpan(status) + ': ' + (evicting < 1 ? many(recent.evicted_pages, 'page') : many(Math.round(evicting), 'page') + '/s') + ' evicted'],
    stacked(sumCells(memory)));
}

const NOT_KEPT = {
  held: 'the disk has them', small: 'their objects are too small', once: 'given up for the first time', budget: 'the day’s writes are used up',
  queue: 'the disk is too slow', broken: 'a disk fails', recovering: 'the disk was being read', overtaken: 'they changed meanwhile',
};

/** The gateways that are one cache with this one. */
function drawCluster({ cluster }) {
  byId('members-section').hidden = cluster === null;
  if (cluster === null) return;
  const state = member => member.silence_seconds === null ? 'has not answered yet' : 'answered ' + member.silence_seconds.toFixed(1) + ' s ago';
  show('members', ...cluster.members.map(member => make('div', { class: 'fabric', 'data-member': member.name },
    make('span', { class: 'badge ' + (member.silence_seconds !== null && member.silence_seconds < 2 ? 'good' : '') }, state(member)),
    make('strong', {}, member.name),
    make('span', { class: 'note' }, (member.fills ? 'shares objects at ' + member.fills : 'shares no objects')
      + (member.differs_in.length ? ', configured otherwise: ' + member.differs_in.join(', ') : '')))),
    make('p', { class: 'note' }, cluster.members.length === 0 ? 'No other member is seen.'
      : cluster.lease ? 'All answer, so objects are served as their rules say.' : 'Not all answer, so every read asks its store.'),
    make('p', { class: 'note' }, many(cluster.told, 'change') + ' told, ' + count(cluster.unheard) + ' not acknowledged by all, ' + count(cluster.applied) + ' applied of others'));
}

/** Without a disk tier there is nothing to show. */
function drawDisk({ disk, gateway }) {
  byId('disk').hidden = disk === null;
  byId('volumes-section').hidden = disk === null;
  if (disk === null) return;
  const inState = state => disk.volumes.filter(volume => volume.state === state);
  const days = Math.max(1 / 24, (gateway.now_millis - gateway.started_millis) / 86400000);
  const daily = disk.written_bytes / days;
  const bad = [...inState('refused'), ...inState('broken')];
  const dropped = Object.entries(disk.not_kept).sort((a, b) => b[1] - a[1]);
  let verdict;
  if (bad.length) verdict = ['Served without ' + bad.map(volume => volume.path).join(', '), 'bad'];
  else if (inState('opening').length + inState('recovering').length) verdict = ['What the disks hold is being read', 'warn'];
  else if (disk.read_pages) verdict = ['Spared the stores ' + bytes(disk.read_bytes), 'good'];
  else verdict = ['Nothing was read from disk yet', ''];
  tile('disk', bytes(disk.held_bytes), 'of ' + bytes(disk.capacity_bytes) + ' held', verdict[0], verdict[1],
    [many(disk.pages, 'page') + ' held, ' + many(disk.read_pages, 'page') + ' read since the start' + (disk.corrupt_pages ? ', ' + count(disk.corrupt_pages) + ' corrupt and dropped' : ''),
      'written: ' + bytes(daily) + ' a day' + (disk.budget_bytes ? ', of ' + bytes(disk.budget_bytes) + ' once full' : ', without a limit'),
      dropped.length ? 'not kept: ' + count(dropped.reduce((sum, [, times]) => sum + times, 0)) + ', most often: ' + (NOT_KEPT[dropped[0][0]] || dropped[0][0]) : 'nothing was left out']);
  show('volumes', ...disk.volumes.map(volume => make('div', { class: 'fabric', 'data-volume': volume.path },
    make('span', { class: 'badge ' + (volume.state === 'working' ? 'good' : ['opening', 'recovering'].includes(volume.state) ? 'off' : '') }, volume.state),
    make('strong', {}, volume.path),
    make('span', { class: 'note' }, volume.reason || bytes(volume.held_bytes) + ' of ' + bytes(volume.bytes) + ' held'))),
    make('p', { class: 'note' }, 'Their index takes ' + bytes(disk.index_bytes) + ' of memory.'));
}

function drawSlow(status) {
  const reads = status.latencies.find(latency => latency.operation === 'GetObject') || status.latencies[0];
  const slowest = status.backends.filter(backend => backend.p99 !== null).sort((a, b) => b.p99 - a.p99)[0];
  let verdict = ['Nothing was asked', ''];
  if (reads && slowest) {
    verdict = slowest.p50 > reads.p50 ? ['The store ' + slowest.name + ': half its answers take over ' + seconds(slowest.p50), '']
      : ['Nobody stands out', 'good'];
  } else if (reads) verdict = ['No store was asked', 'good'];
  const down = status.backends.filter(backend => backend.healthy_endpoints < backend.endpoints.length);
  if (down.length) verdict = ['Endpoints are out: ' + down.map(backend => backend.name).join(', '), 'bad'];
  tile('slow', reads ? seconds(reads.p50) : '–', reads ? 'median ' + reads.operation : '', verdict[0], verdict[1],
    [reads ? '99 % within ' + seconds(reads.p99) + ', ' + inSpan(status) : inSpan(status),
      slowest ? 'store ' + slowest.name + ' begins to answer within ' + seconds(slowest.p50) + ' (median), ' + seconds(slowest.p99) + ' (99 %)'
        : 'no store was asked', many(status.gateway.requests_in_flight, 'request') + ' in flight']);
}

/* ---- memory ---- */

const sumCells = memory => memory.cells.reduce((sums, cell) => sums.map((sum, i) => sum + cell[i]), USES.map(() => 0));

function stacked(sums) {
  const all = sums.reduce((a, b) => a + b, 0);
  const bar = make('div', { class: 'stack', role: 'img', 'aria-label': USES.map((use, i) => use + ' ' + bytes(sums[i])).join(', ') });
  for (const i of [2, 3, 1, 4, 5]) {
    const piece = make('i', { class: 's-' + USES[i] });
    piece.style.width = (100 * share(sums[i], all)) + '%';
    bar.append(piece);
  }
  return make('div', { class: 'spark' }, bar);
}

function drawSlots({ memory }) {
  const columns = 32;
  const rows = Math.max(1, Math.ceil(memory.cells.length / columns));
  const squares = memory.cells.flatMap((cell, at) => {
    const whole = cell.reduce((a, b) => a + b, 0);
    const left = (at % columns) * 10;
    let y = Math.floor(at / columns) * 10 + 9;
    const group = [svg('title', {}, USES.filter((_, i) => cell[i]).map(use => use + ' ' + percent(share(cell[USES.indexOf(use)], whole))).join(', '))];
    for (const i of [5, 4, 1, 3, 2, 0]) {
      const height = 9 * share(cell[i], whole);
      if (height > 0) {
        y -= height;
        group.push(svg('rect', { class: 's-' + USES[i], x: left, y, width: 9, height }));
      }
    }
    return svg('g', {}, ...group);
  });
  const sums = sumCells(memory);
  const all = sums.reduce((a, b) => a + b, 0);
  const rowsOfUse = USES.map((use, i) => make('tr', { 'data-use': use }, make('td', {}, make('i', { class: 'key s-' + use }), use),
    make('td', { class: 'number' }, bytes(sums[i])), make('td', { class: 'number' }, percent(share(sums[i], all))),
    make('td', { class: 'note roomy' }, use === 'free' && memory.reserve_free_bytes ? bytes(memory.reserve_free_bytes) + ' of it is reserve' : USED_FOR[use])));
  show('slots', svg('svg', { viewBox: `0 0 ${columns * 10 - 1} ${rows * 10 - 1}`, role: 'img', 'aria-label': 'What each part of the memory is used for' }, ...squares),
    make('table', {}, ...rowsOfUse));
  byId('slots-are').textContent = `${bytes(memory.capacity_bytes)}, each square ${bytes(memory.cell_bytes)}; ${many(memory.leases, 'lease')} open`;
}

/* ---- tables ---- */

/** Rows of [text, class] or of elements. */
function table(heads, rows, nothing) {
  if (rows.length === 0) return make('p', { class: 'none' }, nothing);
  const cell = tag => ([content, kind]) => make(tag, kind ? { class: kind } : {}, content);
  return make('table', {}, make('tr', {}, ...heads.map(cell('th'))), ...rows.map(row => make('tr', {}, ...row.map(cell('td')))));
}

function track(part, kind) {
  const fillOf = make('i');
  fillOf.style.width = (100 * part) + '%';
  return make('span', { class: 'track ' + (kind || '') }, fillOf);
}

function drawFabrics(status) {
  show('fabrics', ...status.fabrics.map(fabric => {
    const off = !fabric.usable && fabric.reason.startsWith('switched off');
    const refused = Object.entries(fabric.refusals).map(([reason, times]) => `${times} × ${reason}`).join(', ');
    return make('div', { class: 'fabric', 'data-fabric': fabric.name },
      make('span', { class: 'badge ' + (fabric.usable ? 'good' : off ? 'off' : '') }, fabric.usable ? 'usable' : off ? 'off' : 'down'),
      make('strong', {}, fabric.name),
      make('span', { class: 'note' }, fabric.usable || !fabric.reason ? `${many(fabric.sessions, 'session')}, ${many(fabric.transfers, 'transfer')}, ${bytes(fabric.bytes_written)} written, ${bytes(fabric.bytes_read)} read, ${bytes(fabric.registered_bytes)} of peers’ memory registered` : fabric.reason),
      refused ? make('span', { class: 'note' }, 'refused: ' + refused) : null);
  }));
  const reasons = [...Object.entries(status.declines).map(([reason, times]) => [reason, times, REASONS[reason] || '']),
    ...Object.entries(status.refusals).map(([reason, times]) => [reason, times, 'refused with an error'])];
  const most = Math.max(1, ...reasons.map(([, times]) => times));
  show('declines', table([['Reason'], ['What that means', 'roomy'], ['Times', 'number'], ['', 'bar']],
    reasons.map(([reason, times, meaning]) => [[reason], [meaning, 'note roomy'], [count(times), 'number'], [track(times / most, 'decline'), 'bar']]),
    'Nothing was declined.'));
}

function drawBuckets(status) {
  const most = Math.max(1, ...status.buckets.map(bucket => bucket.bytes));
  show('buckets', table([['Bucket'], ['Requests', 'number'], ['Delivered', 'number'], ['', 'bar']],
    status.buckets.map(bucket => [[bucket.bucket === '__other__' ? 'all others' : bucket.bucket], [count(bucket.requests), 'number'],
      [bytes(bucket.bytes), 'number'], [track(bucket.bytes / most), 'bar']]), 'Nothing was asked for.'));
}

/** Of the rules' tenants alone: without any, there is nothing to show. */
function drawTenants(status) {
  byId('tenants-section').hidden = status.tenants.length === 0;
  const share = tenant => (tenant.quota_bytes === null ? '' : 'of at most ' + bytes(tenant.quota_bytes)) + (tenant.floor_bytes ? ' kept up to ' + bytes(tenant.floor_bytes) : '');
  show('tenants', table([['Tenant'], ['Cached', 'number'], ['', 'roomy'], ['Evicted for its quota', 'number']],
    status.tenants.map(tenant => [[tenant.name], [bytes(tenant.bytes), 'number'], [share(tenant), 'note roomy'], [count(tenant.quota_evictions), 'number']])));
}

const LIMITS = { requests: 'too many requests at a time', bytes: 'too many bytes at a time', heap: 'the heap is too full' };

const WARN_DAYS = 14;

/** The certificate's end, and how it is to be taken. */
function certificate({ certificate_until_millis: until, now_millis: now }) {
  if (until === null) return ['no TLS', ''];
  const days = Math.floor((until - now) / 86400000);
  const date = new Date(until).toISOString().slice(0, 10);
  return days < 0 ? ['ended on ' + date, 'bad'] : [date + ', in ' + many(days, 'day'), days < WARN_DAYS ? 'warn' : ''];
}

function drawProcess({ gateway }) {
  const row = (name, value, kind) => make('tr', {}, make('td', {}, name), make('td', { class: kind || '' }, value));
  const refused = Object.entries(gateway.refused_files);
  const full = share(gateway.connections, gateway.connection_limit);
  show('process', make('table', {},
    row('Version', gateway.version || 'no release'),
    row('Heap', bytes(gateway.heap_bytes) + ' of ' + bytes(gateway.heap_max_bytes)),
    row('Connections', count(gateway.connections) + ' of at most ' + count(gateway.connection_limit), full > 0.9 ? 'warn' : ''),
    row('Certificate until', ...certificate(gateway)),
    row('Principals', count(gateway.principals)),
    row('Changed files', refused.length ? many(refused.length, 'change') + ' refused' : 'all in force', refused.length ? 'bad' : ''),
    ...refused.map(([setting, why]) => row(setting, why, 'bad'))));
}

/** Where nothing had to wait, there is nothing to show. */
function drawOverload({ overload }) {
  byId('overload-section').hidden = overload.waited === 0 && overload.slow_downs.length === 0;
  show('overload', make('p', { class: 'note' }, many(overload.waited, 'request') + ' waited for a turn on a busy event loop'),
    table([['Tenant'], ['Told to slow down', 'number'], ['Why', 'roomy']],
      overload.slow_downs.map(({ reason, tenant, requests }) => [[tenant || 'unknown'], [count(requests), 'number'], [LIMITS[reason] || reason, 'note roomy']]),
      'Nobody was told to slow down.'));
}

function drawBackends(status) {
  show('backends', ...status.backends.map(backend => {
    const healthy = backend.healthy_endpoints === backend.endpoints.length;
    return make('div', { class: 'fabric', 'data-backend': backend.name },
      make('span', { class: 'badge ' + (healthy ? 'good' : '') }, `${backend.healthy_endpoints} of ${backend.endpoints.length} up`),
      make('strong', {}, backend.name),
      make('span', { class: 'note' }, backend.endpoints.join(', ')),
      make('span', { class: 'note' }, `${many(backend.requests, 'request')}, ${count(backend.failures)} failed, ${count(backend.retries)} repeated; ${bytes(backend.bytes_in)} in, ${bytes(backend.bytes_out)} out`),
      make('span', { class: 'note' }, backend.p50 === null ? 'not asked in the ' + inSpan(status) : `begins to answer: ${seconds(backend.p50)} median, ${seconds(backend.p99)} for 99 %`),
      backend.lacks.length ? make('span', { class: 'note' }, 'lacks ' + backend.lacks.join(', ')) : null);
  }));
}

function drawRest(status) {
  drawProcess(status);
  drawDisk(status);
  drawCluster(status);
  drawFabrics(status);
  drawBuckets(status);
  drawTenants(status);
  drawOverload(status);
  drawBackends(status);
  show('latencies', table([['Operation'], ['Requests', 'number'], ['Median', 'number'], ['99 %', 'number']],
    status.latencies.map(latency => [[latency.operation], [count(latency.count), 'number'], [seconds(latency.p50), 'number'], [seconds(latency.p99), 'number']]),
    'Nothing was asked.'));
  show('errors', table([['Last at'], ['Times', 'number'], ['Error'], ['Where'], ['Last request id', 'roomy']],
    status.errors.map(error => [[clock(error.at_millis), 'number'], [count(error.times), 'number'], [error.code + (error.status ? ' (' + error.status + ')' : ''), 'whole'],
      [error.where + (error.bucket ? ' in ' + error.bucket : '')], [error.request_id, 'mono id roomy']]), 'None.'));
  if (byId('configuration').dataset.of !== String(status.gateway.started_millis)) {
    byId('configuration').dataset.of = status.gateway.started_millis;
    show('configuration', table([['Key'], ['Value']], Object.entries(status.configuration).map(([key, value]) => [[key, 'mono'], [value === '' ? '–' : value, 'mono']]), 'None.'));
  }
  for (const element of document.querySelectorAll('.span')) element.textContent = inSpan(status);
}

/* ---- the page ---- */

function drawHead({ gateway }) {
  const state = gateway.reason || 'serving';
  document.title = `${gateway.name}: ${state} – Railhead`;
  byId('name').textContent = gateway.name;
  byId('since').textContent = 'Railhead' + (gateway.version ? ' ' + gateway.version : '') + ', up ' + span((gateway.now_millis - gateway.started_millis) / 1000) + ', figures of ' + clock(gateway.now_millis);
  byId('state').textContent = state;
  byId('state').className = 'state' + (gateway.reason ? '' : ' good');
}

function draw(status) {
  drawHead(status);
  drawHelping(status);
  drawRdma(status);
  drawSize(status);
  drawSlow(status);
  drawThroughput(status);
  drawSlots(status);
  // What somebody is about to copy stays as it is.
  if (document.getSelection().isCollapsed) drawRest(status);
}

function drawGone(why) {
  const name = latest ? latest.gateway.name : 'The gateway';
  byId('gone').hidden = false;
  byId('gone').textContent = heardAt === null ? `No answer yet: ${why}.`
    : `No answer from ${name} since ${clock(heardAt)}, ${span((Date.now() - heardAt) / 1000)} ago: ${why}. What is below is from then.`;
  byId('state').textContent = 'no answer';
  byId('state').className = 'state';
  document.title = `${name}: no answer – Railhead`;
  document.body.classList.add('stale');
}

async function look() {
  clearTimeout(next);
  try {
    const answer = await fetch('/status.json', { signal: AbortSignal.timeout(PATIENCE_MS), cache: 'no-store' });
    if (!answer.ok) throw new Error('status ' + answer.status);
    latest = await answer.json();
    heardAt = Date.now();
    byId('gone').hidden = true;
    document.body.classList.remove('stale');
    draw(latest);
  } catch (error) {
    drawGone(error.name === 'TimeoutError' ? 'it does not answer' : error instanceof TypeError ? 'it cannot be reached' : error.message);
  }
  next = setTimeout(() => { if (!document.hidden) look(); }, EVERY_MS);
}

byId('throughput').addEventListener('pointermove', event => {
  if (!latest) return;
  const box = event.currentTarget.getBoundingClientRect();
  const last = latest.history.store.length - 1;
  pointed = last < 0 ? null : Math.max(0, Math.min(last, Math.round((event.clientX - box.left) / box.width * last)));
  drawThroughput(latest);
});
byId('throughput').addEventListener('pointerleave', () => {
  pointed = null;
  if (latest) drawThroughput(latest);
});
// A page that nobody sees asks for nothing.
document.addEventListener('visibilitychange', () => { if (!document.hidden) look(); });
look();
