// Providers that send a token: signed claims, a password, or a canonical request.

import crypto from 'node:crypto';
import { FIRST, NOW, hash, hmac, require, vector, versionOf } from '../engine.js';

const { WebhookReceiver } = await import('livekit-server-sdk');
const { Receiver } = require('@upstash/qstash');
const messagebird = require('messagebird/lib/webhook-signature-jwt.js');
const vonage = require('@vonage/jwt');
const { basicAuthValidator } = require('chargebee');
const contentful = require('@contentful/node-apps-toolkit');

const url = 'https://hooks.example.com/in/source';
const sample = '{"id":"EV_1","event":"room_started","createdAt":"1767225600"}';

const part = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
function jwt(claims, secret, algorithm = 'HS256', header = {}) {
  const text = `${part({ alg: algorithm, typ: 'JWT', ...header })}.${part(claims)}`;
  if (algorithm === 'none') return `${text}.`;
  return `${text}.${hmac(`sha${algorithm.slice(2)}`, secret, text).toString('base64url')}`;
}

/** What is tried with every provider that sends signed claims about the body. */
function tokenCases(spec) {
  const out = [];
  const add = (note, want, o = {}) => {
    const body = o.body ?? sample;
    const claims = { ...spec.claims(Buffer.from(o.signBody ?? body), o.at ?? NOW, o.signUrl ?? spec.url), ...o.claims };
    for (const name of Object.keys(claims)) if (claims[name] === undefined) delete claims[name];
    const token = o.token ?? jwt(claims, o.signSecret ?? spec.secret, o.algorithm ?? 'HS256', o.header);
    const headers = { 'Content-Type': 'application/json', ...spec.headers(o.change ? o.change(token) : token), ...o.headers };
    for (const name of Object.keys(headers)) if (headers[name] === undefined) delete headers[name];
    out.push(vector(spec, { headers, body, url: o.url }, note, want, o));
  };
  add(FIRST, true);
  add('a body beyond ASCII', true, { body: '{"name":"Zoë 🚢"}' });
  add('a body that is not compact', true, { body: '{ "a" : 1 }\n' });
  add('the body changed by one character', false, { signBody: sample.replace('1', '2') });
  add('signed with another secret', false, { signSecret: `${spec.secret}x` });
  add('expired', false, { at: NOW - 86400 });
  add('judged a day later', false, { now: NOW + 86400 });
  const slack = { edge: 'clocks may differ a little' };
  add('three seconds past its end', true, { claims: { exp: NOW - 3 }, ...slack });
  add('three seconds before its time', true, { claims: { nbf: NOW + 3 }, ...slack });
  add('two minutes past its end', false, { claims: { exp: NOW - 120 } });
  add('not yet valid', false, { claims: { nbf: NOW + 3600 } });
  add('no algorithm', false, { algorithm: 'none' });
  add('claims to have no algorithm', false, { header: { alg: 'none' } });
  add('a stronger hash than is used', spec.hashes?.includes('HS512') ?? false, { algorithm: 'HS512' });
  add('no signature header', false, { headers: Object.fromEntries(Object.keys(spec.headers('')).map((n) => [n, undefined])) });
  add('an empty token', false, { token: '' });
  add('a token of rubbish', false, { token: 'nonsense' });
  add('two parts instead of three', false, { change: (t) => t.split('.').slice(0, 2).join('.') });
  add('four parts', false, { change: (t) => `${t}.x` });
  add('the signature cut short', false, { change: (t) => t.slice(0, -4) });
  add('another payload under the signature', false, { change: (t) => { const [h, , s] = t.split('.'); return `${h}.${part({ sub: 'x' })}.${s}`; } });
  if (spec.hashClaim) add('no hash of the body', spec.hashOptional ? undefined : false, { claims: { [spec.hashClaim]: undefined } });
  if (spec.issuer) add('another issuer', false, { claims: { iss: 'somebody' } });
  if (spec.issuer) add('no issuer', false, { claims: { iss: undefined } });
  if (spec.urlClaim) {
    add('signed for another URL', false, { signUrl: 'https://other.example.com/in/source' });
    add('a query that was not signed', false, { url: `${spec.url}?a=b`, signUrl: spec.url });
    add('a query in the URL', true, { url: `${spec.url}?a=b`, signUrl: `${spec.url}?a=b` });
  }
  spec.more?.(add);
  return out;
}

const sha = (body, encoding) => hash('sha256', body).toString(encoding);

const tokens = [
  {
    provider: 'livekit', by: versionOf('livekit-server-sdk'), url, secret: 'livekit-api-secret-1-of-32-bytes!', config: { apiKey: 'APIkey1' },
    issuer: true, hashClaim: 'sha256',
    claims: (body, at) => ({ iss: 'APIkey1', nbf: at - 5, exp: at + 300, sha256: sha(body, 'base64') }),
    headers: (token) => ({ Authorization: token }),
    judge: (r) => new WebhookReceiver(r.config.apiKey, r.secret).receive(r.body, r.headers.authorization),
  },
  {
    provider: 'qstash', by: versionOf('@upstash/qstash'), url, secret: 'sig_current-key-of-qstash-32-bytes', issuer: true, hashClaim: 'body', urlClaim: true,
    claims: (body, at, to) => ({ iss: 'Upstash', sub: to, exp: at + 300, nbf: at - 5, iat: at, jti: 'jwt_1', body: sha(body, 'base64url') }),
    headers: (token) => ({ 'Upstash-Signature': token }),
    judge: (r) => new Receiver({ currentSigningKey: r.secret, nextSigningKey: r.previousSecrets?.[0] ?? r.secret }).verify({ signature: r.headers['upstash-signature'], body: r.body, url: r.url }),
    more: (add) => {
      add('signed with the next key', true, { signSecret: 'sig_next-key-of-qstash-of-32-bytes', previousSecrets: ['sig_next-key-of-qstash-of-32-bytes'] });
      add('the hash with its padding', true, { claims: { body: `${sha(Buffer.from(sample), 'base64url')}=` } });
    },
  },
  {
    provider: 'messagebird', by: versionOf('messagebird'), url, secret: 'messagebird-signing-key', issuer: true, hashClaim: 'payload_hash', urlClaim: true, hashes: ['HS256', 'HS384', 'HS512'],
    claims: (body, at, to) => ({ iss: 'MessageBird', nbf: at, exp: at + 60, jti: 'jti-1', url_hash: hash('sha256', to).toString('hex'), ...(body.length ? { payload_hash: sha(body, 'hex') } : {}) }),
    headers: (token) => ({ 'MessageBird-Signature-JWT': token }),
    judge: (r) => messagebird.verify(r.url, r.raw, r.headers['messagebird-signature-jwt'], crypto.createSecretKey(Buffer.from(r.secret))),
    more: (add) => {
      add('an empty body', true, { body: '' });
      add('HS384', true, { algorithm: 'HS384' });
      add('four seconds past its end', true, { at: NOW - 64 });
      add('six seconds past its end', false, { at: NOW - 66 });
      add('no hash of the URL', false, { claims: { url_hash: undefined } });
      add('no id of the token', false, { claims: { jti: undefined } });
    },
  },
  {
    provider: 'vonage', by: versionOf('@vonage/jwt'), url, secret: 'vonage-signature-secret-of-32-bytes', hashOptional: true, hashClaim: 'payload_hash',
    claims: (body, at) => ({ iss: 'Vonage', iat: at, exp: at + 300, jti: 'j1', api_key: 'a1b2c3d', application_id: 'app-1', payload_hash: sha(body, 'hex') }),
    headers: (token) => ({ Authorization: `Bearer ${token}` }),
    judge: (r) => vonage.verifySignature(r.headers.authorization.replace(/^Bearer /, ''), r.secret),
  },
].map((spec) => ({ ...spec, cases() { return tokenCases(spec); } }));

const chargebee = {
  provider: 'chargebee', by: versionOf('chargebee'), url, secret: 'hook-user:p@ss:word',
  judge: async (r) => {
    const at = r.secret.indexOf(':');
    await basicAuthValidator((user, password) => user === r.secret.slice(0, at) && password === r.secret.slice(at + 1))(r.headers);
    return true;
  },
  cases() {
    const out = [];
    const add = (note, want, authorization, secret) => out.push(vector(this, { headers: { 'Content-Type': 'application/json', ...(authorization === undefined ? {} : { Authorization: authorization }) }, body: sample, secret }, note, want));
    const basic = (text) => `Basic ${Buffer.from(text).toString('base64')}`;
    add(FIRST, true, basic(this.secret));
    add('letters beyond ASCII', true, basic('usér:pässword'), 'usér:pässword');
    add('another password', false, basic('hook-user:password'));
    add('another user', false, basic('user:p@ss:word'));
    add('cut at the last colon', false, basic('hook-user:p@ss'));
    add('the user alone', false, basic('hook-user'));
    add('an empty password', false, basic('hook-user:'));
    add('nothing', false, basic(':'));
    add('no header', false, undefined);
    add('an empty header', false, '');
    add('not base64', false, `Basic ${this.secret}`);
    add('a bearer', false, basic(this.secret).replace('Basic', 'Bearer'));
    return out;
  },
};

const contentfulSpec = {
  provider: 'contentful', by: versionOf('@contentful/node-apps-toolkit'), url: 'https://hooks.example.com/in/contentful?a=b', secret: 'c'.repeat(63) + '1',
  judge: (r) => contentful.verifyRequest(r.secret, { method: r.method, path: r.url.replace(/^https:\/\/[^/]+/, ''), headers: r.headers, body: r.body }),
  cases() {
    const out = [];
    const body = '{"sys":{"type":"Entry","id":"e1"}}';
    const add = (note, want, o = {}) => {
      const path = o.path ?? '/in/contentful?a=b';
      const extra = { 'content-type': 'application/vnd.contentful.management.v1+json', 'x-contentful-topic': 'ContentManagement.Entry.publish', ...o.signed };
      const signed = contentful.signRequest(o.secret ?? this.secret, { method: o.method ?? 'POST', path, headers: extra, body: o.signBody ?? o.body ?? body }, (o.at ?? NOW) * 1000);
      const headers = { ...extra, ...signed, ...o.headers };
      for (const name of Object.keys(headers)) if (headers[name] === undefined) delete headers[name];
      out.push(vector(this, { method: 'POST', url: this.url, headers, body: o.body ?? body }, note, want, o));
    };
    add(FIRST, true);
    add('header names in other letters', true, { headers: { 'x-contentful-topic': undefined, 'X-Contentful-Topic': 'ContentManagement.Entry.publish' } });
    add('a body beyond ASCII', true, { body: '{"name":"Zoë 🚢"}' });
    add('an empty body', true, { body: '' });
    add('a header that is not signed', true, { headers: { 'x-other': '1' } });
    add('spaces around a signed value', true, { signed: { 'x-note': 'a b' } });
    add('twenty-nine seconds old', true, { at: NOW - 29 });
    add('thirty-one seconds old', false, { at: NOW - 31 });
    add('a day ahead', false, { at: NOW + 86400, edge: 'the library does not look for the future' });
    add('the body changed', false, { signBody: '{}' });
    add('a signed header changed', false, { headers: { 'x-contentful-topic': 'ContentManagement.Entry.delete' } });
    add('a signed header taken away', false, { headers: { 'x-contentful-topic': undefined } });
    add('signed for another path', false, { path: '/other' });
    add('signed without the query', false, { path: '/in/contentful' });
    add('signed for another method', false, { method: 'PUT' });
    add('signed with another secret', false, { secret: 'd'.repeat(64) });
    add('no signature header', false, { headers: { 'x-contentful-signature': undefined } });
    add('no list of headers', false, { headers: { 'x-contentful-signed-headers': undefined } });
    add('no time', false, { headers: { 'x-contentful-timestamp': undefined } });
    add('the time changed after signing', false, { headers: { 'x-contentful-timestamp': `${NOW * 1000 + 1}` } });
    return out;
  },
};

export default [...tokens, chargebee, contentfulSpec];
