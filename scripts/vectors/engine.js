// What every provider's cases have in common: how a request is signed, in which ways it is then
// spoilt, and how a verdict is asked for. A provider's file says how it signs and who judges.

import crypto from 'node:crypto';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(import.meta.url);

/** 2026-01-01T00:00:00Z: when every vector is judged, unless it says otherwise. */
export const NOW = 1767225600;

const RealDate = Date;

/** Runs `work` at a fixed time of day; the libraries ask `Date`. */
export async function at(seconds, work) {
  class FixedDate extends RealDate {
    constructor(...values) {
      super(...(values.length ? values : [seconds * 1000]));
    }
    static now() {
      return seconds * 1000;
    }
  }
  globalThis.Date = FixedDate;
  try {
    return await work();
  } finally {
    globalThis.Date = RealDate;
  }
}

export function versionOf(name) {
  const path = new URL(`./node_modules/${name}/package.json`, import.meta.url);
  return `npm ${name} ${JSON.parse(readFileSync(path)).version}`;
}

export const hmac = (algorithm, key, ...parts) => {
  const mac = crypto.createHmac(algorithm, key);
  for (const part of parts) mac.update(part);
  return mac.digest();
};

export const hash = (algorithm, ...parts) => {
  const digest = crypto.createHash(algorithm);
  for (const part of parts) digest.update(part);
  return digest.digest();
};

export const text = (bytes, encoding) => bytes.toString(encoding);
export const lower = (headers) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** One case: a request, what we think of it (undefined: only the library knows), and its story. */
export function vector(spec, request, note, want, extra = {}) {
  return {
    provider: spec.provider,
    method: request.method ?? 'POST',
    url: request.url ?? spec.url,
    headers: request.headers,
    body: Buffer.from(request.body ?? ''),
    secret: request.secret ?? spec.secret,
    config: extra.config ?? spec.config,
    previousSecrets: extra.previousSecrets,
    now: extra.now ?? NOW,
    note,
    want,
    edge: extra.edge,
  };
}

export async function judged(spec, one) {
  if (!spec.judge) return undefined;
  const body = one.body.toString('utf8');
  if (!spec.binary && !Buffer.from(body, 'utf8').equals(one.body)) return undefined;
  const request = { ...one, raw: one.body, body, headers: lower(one.headers) };
  try {
    const verdict = await at(one.now, () => spec.judge(request));
    return verdict === undefined && spec.silent ? undefined : !!verdict;
  } catch (problem) {
    one.problem = `${problem?.stack ?? problem}`;
    return false;
  }
}

/** The first case of every provider. A judge who refuses it was asked wrongly: the run fails. */
export const FIRST = 'as the provider sends it';

const SAMPLES = {
  unicode: '{"id":"evt_2","name":"Zoë Ångström","note":"価格は€5です 🚢","quote":"\\u00e9"}',
  pretty: '{\n  "id" : "evt_3",\n\t"amount": 10.0,\n  "list": [ 1, 2.50, 1e3 ]\n}\n',
  large: () => `{"id":"evt_4","items":[${Array.from({ length: 400 }, (_, i) => `{"n":${i},"s":"abcdefghij"}`)}]}`,
};

/**
 * The cases of a provider that signs with a digest in a header. `spec` has
 * - `digest({secret, body, at, url, method})`: the bytes of the signature,
 * - `encoding`: hex, base64 or base64url,
 * - `headers({signatures, at})`: the headers that carry them,
 * - `signature`: the header with the signature; `needs`: other headers that have to be there,
 * - `tolerance`: seconds into the past, `ahead`: into the future (undefined: not looked at),
 * - `several`: whether a header may carry more than one signature,
 * - `json`: the library reads the body, so only JSON can be judged,
 * - `sample`, `url`, `secret`, `other`, `judge`, `binary` (the judge takes bytes).
 */
export function headerCases(spec) {
  const out = [];
  const sample = spec.sample ?? spec.bodyAt?.(NOW) ?? '{"id":"evt_1","type":"order.created","data":{"amount":1099}}';
  const sign = (o = {}) => {
    const how = { secret: spec.secret, body: spec.bodyAt?.(o.at ?? NOW) ?? sample, at: NOW, url: spec.url, method: 'POST', ...o };
    how.body = Buffer.from(how.body);
    const encoded = text(spec.digest(how), spec.encoding);
    const signatures = o.signatures ? o.signatures(encoded, how) : [encoded];
    return { method: how.method, url: how.url, body: how.body, headers: { 'Content-Type': 'application/json', ...spec.headers({ ...how, signatures }) } };
  };
  const add = (note, want, request, extra) => out.push(vector(spec, request, note, want, extra));
  const changed = (request, headers) => {
    const all = { ...request.headers, ...headers };
    for (const name of Object.keys(all)) if (all[name] === undefined) delete all[name];
    return { ...request, headers: all };
  };
  const good = sign();
  const value = good.headers[spec.signature];

  add(FIRST, true, good);
  add('header names in other letters', true, {
    ...good,
    headers: Object.fromEntries(Object.entries(good.headers).map(([n, v], i) => [i % 2 ? n.toLowerCase() : n.toUpperCase(), v])),
  });
  add('a body beyond ASCII', true, sign({ body: spec.unicode ?? SAMPLES.unicode }));
  add('a body that is not compact', true, sign({ body: spec.pretty ?? SAMPLES.pretty }));
  if (!spec.json) {
    add('an empty body', true, sign({ body: '' }));
    add('a body that is no JSON', true, sign({ body: 'a=1&b=%20x+y&c=' }));
    if (spec.binary) add('a body that is not UTF-8', true, sign({ body: Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x80, 0x0a, 0x7d]) }));
  }
  if (spec.large) add('a large body', true, sign({ body: SAMPLES.large() }));
  if (!spec.keyed) add('a secret beyond ASCII', true, { ...sign({ secret: 'gehëim–鍵' }), secret: 'gehëim–鍵' });
  if (!spec.keyed) add('a long secret', true, { ...sign({ secret: 'k'.repeat(131) }), secret: 'k'.repeat(131) });

  add('signed with another secret', false, sign({ secret: spec.other }));
  add('the body changed by one character', false, { ...good, body: sample.replace('1', '2') });
  add('a line end added to the body', false, { ...good, body: `${sample}\n` });
  add('the body written anew', false, { ...good, body: JSON.stringify(JSON.parse(sample), null, 1) });
  add('the body taken away', false, { ...good, body: '' });
  add('no signature header', false, changed(good, { [spec.signature]: undefined }));
  add('an empty signature header', false, changed(good, { [spec.signature]: '' }));
  add('a signature header of rubbish', false, changed(good, { [spec.signature]: 'nonsense' }));
  for (const name of spec.needs ?? []) {
    add(`no ${name} header`, false, changed(good, { [name]: undefined }));
  }
  const one = (note, want, change, extra) => add(note, want, sign({ signatures: (encoded, how) => [change(encoded, how)] }), extra);
  one('the signature cut short', false, (encoded) => encoded.slice(0, -4));
  one('one character of the signature changed', false, (encoded) => (encoded[0] === '0' ? '1' : '0') + encoded.slice(1));
  one('an empty signature', false, () => '');
  one('the signature twice in a row', false, (encoded) => encoded + encoded);
  if (spec.encoding === 'hex') {
    one('hex in capital letters', undefined, (encoded) => encoded.toUpperCase());
    one('base64 instead of hex', false, (_, how) => text(spec.digest(how), 'base64'));
  } else {
    one('hex instead of base64', false, (_, how) => text(spec.digest(how), 'hex'));
    if (spec.encoding === 'base64') {
      one('base64 without its padding', undefined, (encoded) => encoded.replace(/=+$/, ''));
      const odd = Array.from({ length: 64 }, (_, i) => `{"id":"evt_5","n":${i}}`)
        .find((body) => /[+/]/.test(text(spec.digest({ secret: spec.secret, body: Buffer.from(body), at: NOW, url: spec.url, method: 'POST' }), 'base64')));
      add('the alphabet of URLs', undefined, sign({ body: odd, signatures: (e) => [e.replaceAll('+', '-').replaceAll('/', '_')] }));
    }
  }
  if (value.includes('=') && /^[a-z0-9]+=/i.test(value) && !spec.list) {
    add('the signature without its prefix', !!spec.prefixOptional, changed(good, { [spec.signature]: value.replace(/^[a-z0-9-]+=/i, '') }));
    add('another prefix', false, changed(good, { [spec.signature]: value.replace(/^[a-z0-9-]+=/i, 'md5=') }));
  }
  if (spec.several) {
    const wrong = (how) => text(spec.digest({ ...how, secret: spec.other }), spec.encoding);
    add('several signatures, the last one fits', true, sign({ signatures: (e, how) => [wrong(how), e] }));
    add('several signatures, the first one fits', true, sign({ signatures: (e, how) => [e, wrong(how)] }));
    add('several signatures, none fits', false, sign({ signatures: (e, how) => [wrong(how), `${wrong(how).slice(4)}abcd`] }));
    add('five signatures, the middle one fits', true, sign({ signatures: (e, how) => [wrong(how), wrong(how), e, wrong(how), wrong(how)] }));
  }
  if (spec.digest.length && spec.signsUrl) {
    const elsewhere = spec.url.replace('hooks.', 'other.');
    add('signed for another host', false, { ...sign({ url: elsewhere }), url: spec.url });
    add('signed for another path', false, { ...sign({ url: spec.url.replace('/in/', '/out/') }), url: spec.url });
    const query = `${spec.url}${spec.url.includes('?') ? '&' : '?'}a=b&c=1`;
    add('a query in the URL', true, sign({ url: query }), { config: spec.configOf?.(query) });
    add('a query that was not signed', false, { ...good, url: query }, { config: spec.configOf?.(query) });
  }
  if (spec.time) out.push(...timeCases(spec, sign, changed, good));
  if (!spec.keyed) add('an empty secret, also when signing', false, { ...sign({ secret: '' }), secret: '' }, { edge: 'an empty secret never verifies' });
  spec.more?.(sign, (note, want, request, extra) => add(note, want, changed(request, {}), extra), spec);
  if (spec.rotates) add('a secret left from before still fits', true, sign({ secret: spec.other }), { previousSecrets: [spec.other] });
  return out;
}

function timeCases(spec, sign, changed, good) {
  const out = [];
  const add = (note, want, request, extra) => out.push(vector(spec, request, note, want, extra));
  const { tolerance, ahead } = spec;
  add('a minute old', (tolerance ?? 300) >= 60, sign({ at: NOW - 60 }));
  if (tolerance !== undefined) {
    add('as old as allowed, less a second', true, sign({ at: NOW - tolerance + 1 }));
    add('as old as allowed', undefined, sign({ at: NOW - tolerance }), { edge: 'libraries differ on the last second' });
    add('a second too old', false, sign({ at: NOW - tolerance - 1 }));
    add('a day old', false, sign({ at: NOW - 86400 }));
    add('judged a day later', false, good, { now: NOW + 86400 });
  } else {
    add('a day old', spec.recommended ? false : undefined, sign({ at: NOW - 86400 }), { edge: 'the library leaves the age to the receiver' });
  }
  add('three seconds ahead', true, sign({ at: NOW + 3 }), { edge: 'clocks may differ a little' });
  const unwatched = tolerance === undefined && !spec.recommended;
  add('a day ahead', unwatched ? undefined : false, sign({ at: NOW + 86400 }), ahead === undefined ? { edge: 'the library does not look for the future' } : {});
  if (ahead) {
    add('as far ahead as allowed, less a second', true, sign({ at: NOW + ahead - 1 }));
    add('a second too far ahead', false, sign({ at: NOW + ahead + 1 }));
  }
  const parts = spec.time(NOW);
  const later = spec.time(NOW + 1);
  const swap = (to) => ({ ...good, headers: Object.fromEntries(Object.entries(good.headers).map(([n, v]) => [n, String(v).replaceAll(parts, to)])) });
  if (Object.values(good.headers).some((v) => String(v).includes(parts))) {
    add('the time changed after signing', false, swap(later));
    add('a time that is no number', false, swap('soon'));
    add('an empty time', false, swap(''));
    add('a time below zero', false, swap(`-${parts}`));
  }
  return out;
}

export { require };
