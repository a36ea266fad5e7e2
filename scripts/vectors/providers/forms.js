// Providers that sign the URL and the fields of a form.

import querystring from 'node:querystring';
import { FIRST, NOW, hash, hmac, require, vector, versionOf } from '../engine.js';

const twilio = require('twilio');
const plivo = require('plivo');
const braintree = require('braintree');

const form = (fields) => fields.map(([n, v]) => `${querystring.escape(n)}=${querystring.escape(v)}`).join('&');
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8' };
const url = 'https://hooks.example.com/in/twilio?tenant=7';
const fields = [['To', '+15017122661'], ['From', '+15558675310'], ['Body', 'Ahoy & hello'], ['MessageSid', 'SM1'], ['MessageStatus', 'delivered']];

function twilioSigned(to, names, secret, algorithm = 'sha1') {
  const grouped = new Map();
  for (const [name, value] of names) grouped.set(name, new Set([...(grouped.get(name) ?? []), value]));
  const text = [...grouped.keys()].sort().map((name) => [...grouped.get(name)].sort().map((value) => name + value).join('')).join('');
  return hmac(algorithm, secret, to + text).toString('base64');
}

const twilioSpec = {
  provider: 'twilio', by: versionOf('twilio'), url, silent: true, secret: '12345678901234567890123456789012',
  judge: (r) => {
    if (r.headers['x-twilio-webhooks-signature-settings']) return undefined;
    const signature = r.headers['x-twilio-signature'];
    if (r.url.includes('bodySHA256')) return twilio.validateRequestWithBody(r.secret, signature ?? '', r.url, r.body);
    const isForm = (r.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
    return twilio.validateRequest(r.secret, signature, r.url, isForm ? { ...querystring.parse(r.body) } : {});
  },
  cases() {
    const out = [];
    const add = (note, want, o = {}) => {
      const names = o.fields ?? fields;
      const signature = o.signature ?? twilioSigned(o.signUrl ?? o.url ?? url, o.signFields ?? names, o.signSecret ?? this.secret);
      const headers = { ...FORM, 'X-Twilio-Signature': signature, ...o.headers };
      for (const name of Object.keys(headers)) if (headers[name] === undefined) delete headers[name];
      out.push(vector(this, { method: o.method, url: o.url ?? url, headers, body: o.body ?? form(names), secret: o.secret }, note, want, o));
    };
    const json = '{"event":"delivered","to":"+15017122661"}';
    const hashed = `https://hooks.example.com/in/twilio?bodySHA256=${hash('sha256', json).toString('hex')}`;
    const asJson = { 'Content-Type': 'application/json' };
    add(FIRST, true);
    add('fields in another order', true, { fields: [...fields].reverse(), signFields: fields });
    add('a field with the same value twice', true, { fields: [...fields, ['Media', 'b'], ['Media', 'b']] });
    add('a field with several values', true, { fields: [...fields, ['Media', 'b'], ['Media', 'a']] });
    add('an empty field', true, { fields: [...fields, ['Empty', '']] });
    add('a body beyond ASCII', true, { fields: [...fields, ['Text', 'Zoë 🚢 価格']] });
    add('a plus and a percent sign', true, { fields: [...fields, ['Text', '1+1=2 100%']] });
    add('spaces written as plus signs', true, { body: form(fields).replaceAll('%20', '+') });
    add('no fields at all', true, { fields: [] });
    add('names that differ by case', true, { fields: [['b', '1'], ['B', '2'], ['a', '3']] });
    add('a GET', true, { method: 'GET', url: `${url}&Digits=1`, fields: [], headers: { 'Content-Type': undefined } });
    add('JSON with its hash in the URL', true, { url: hashed, body: json, signFields: [], headers: asJson });
    add('JSON changed after signing', false, { url: hashed, body: json.replace('delivered', 'failed'), signFields: [], headers: asJson });
    add('JSON with the hash of something else', false, { url: hashed.replace(/.$/, '0').replace(/0(.)$/, '1$1'), body: json, signFields: [], headers: asJson });
    add('signed with the port', true, { signUrl: url.replace('.com/', '.com:443/') });
    add('called with the port, signed without', true, { url: url.replace('.com/', '.com:443/'), signUrl: url });
    add('signed for http', false, { signUrl: url.replace('https', 'http') });
    add('signed for another host', false, { signUrl: url.replace('hooks', 'other') });
    add('signed without the query', false, { signUrl: url.split('?')[0] });
    add('a field changed', false, { signFields: [...fields.slice(0, -1), ['MessageStatus', 'failed']] });
    add('a field added', false, { fields: [...fields, ['Extra', '1']], signFields: fields });
    add('a field taken away', false, { fields: fields.slice(1), signFields: fields });
    add('signed with another secret', false, { signSecret: 'x'.repeat(32) });
    add('no signature header', false, { headers: { 'X-Twilio-Signature': undefined } });
    add('an empty signature header', false, { signature: '' });
    add('a signature header of rubbish', false, { signature: 'nonsense' });
    add('hex instead of base64', false, { signature: Buffer.from(twilioSigned(url, fields, this.secret), 'base64').toString('hex') });
    add('SHA-256 without a word about it', false, { signature: twilioSigned(url, fields, this.secret, 'sha256') });
    const settings = (algorithm) => ({ 'X-Twilio-Webhooks-Signature-Settings': `key=webhooks_sharedkey_1,algorithm=${algorithm}` });
    add('SHA-256, announced', true, { signature: twilioSigned(url, fields, this.secret, 'sha256'), headers: settings('HMAC_SHA256') });
    add('SHA-256 announced, SHA-1 sent', false, { headers: settings('HMAC_SHA256') });
    add('SHA-1, announced', true, { headers: settings('HMAC_SHA1') });
    add('an algorithm nobody knows', false, { headers: settings('HMAC_MD5') });
    add('settings without an algorithm', true, { headers: { 'X-Twilio-Webhooks-Signature-Settings': 'key=webhooks_sharedkey_1' } });
    return out;
  },
};

const plivoUrl = 'https://hooks.example.com/in/plivo';
function plivoSigned(method, to, names, nonce, secret) {
  const [base, query = ''] = to.split('?');
  const asked = [...new URLSearchParams(query)];
  const sorted = (list, join) => [...list].sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0)).map(([n, v]) => n + join + v);
  let text = base;
  if (method === 'GET') {
    const all = sorted([...asked, ...names], '=').join('&');
    if (all) text += `?${all}`;
  } else {
    const part = sorted(asked, '=').join('&');
    if (part || names.length) text += `?${part}`;
    if (part && names.length) text += '.';
    text += sorted(names, '').join('');
  }
  return hmac('sha256', secret, `${text}.${nonce}`).toString('base64');
}

const plivoSpec = {
  provider: 'plivo', by: versionOf('plivo'), url: plivoUrl, secret: 'MAMJZJZGRKODNMYZC3NT-token',
  judge: (r) => plivo.validateV3Signature(r.method, r.url, r.headers['x-plivo-signature-v3-nonce'], r.secret, r.headers['x-plivo-signature-v3'],
    r.method === 'GET' ? {} : { ...querystring.parse(r.body) }),
  cases() {
    const out = [];
    const call = [['CallUUID', 'c-1'], ['Event', 'Hangup'], ['From', '15550001']];
    const add = (note, want, o = {}) => {
      const method = o.method ?? 'POST';
      const to = o.url ?? plivoUrl;
      const names = o.fields ?? (method === 'GET' ? [] : call);
      const nonce = '05429567804466091622';
      const signature = o.signature ?? plivoSigned(method, o.signUrl ?? to, o.signFields ?? names, nonce, o.signSecret ?? this.secret);
      const headers = { ...(method === 'GET' ? {} : FORM), 'X-Plivo-Signature-V3': o.wrap ? o.wrap(signature) : signature, 'X-Plivo-Signature-V3-Nonce': nonce, ...o.headers };
      for (const name of Object.keys(headers)) if (headers[name] === undefined) delete headers[name];
      out.push(vector(this, { method, url: to, headers, body: method === 'GET' ? '' : form(names) }, note, want, o));
    };
    const query = `${plivoUrl}?b=2&a=1`;
    add(FIRST, true);
    add('fields in another order', true, { fields: [...call].reverse() });
    add('a query as well', true, { url: query });
    add('no fields at all', true, { fields: [] });
    add('a query, no fields', true, { url: query, fields: [] });
    add('a GET', true, { method: 'GET', url: query });
    add('a GET without a query', true, { method: 'GET' });
    add('a body beyond ASCII', true, { fields: [...call, ['Text', 'Zoë']] });
    add('several signatures, the last one fits', true, { wrap: (s) => `${'A'.repeat(43)}=,${s}` });
    add('several signatures, the first one fits', true, { wrap: (s) => `${s},${'A'.repeat(43)}=` });
    add('several signatures, none fits', false, { wrap: () => `${'B'.repeat(43)}=,${'A'.repeat(43)}=` });
    add('signed with another secret', false, { signSecret: 'other' });
    add('another nonce', false, { headers: { 'X-Plivo-Signature-V3-Nonce': '1' } });
    add('no nonce header', false, { headers: { 'X-Plivo-Signature-V3-Nonce': undefined } });
    add('no signature header', false, { headers: { 'X-Plivo-Signature-V3': undefined } });
    add('an empty signature header', false, { headers: { 'X-Plivo-Signature-V3': '' } });
    add('a field changed', false, { signFields: [['CallUUID', 'c-2'], ...call.slice(1)] });
    add('a field added', false, { fields: [...call, ['Extra', '1']], signFields: call });
    add('signed for another host', false, { signUrl: plivoUrl.replace('hooks', 'other') });
    add('signed without the query', false, { url: query, signUrl: plivoUrl });
    return out;
  },
};

const gateway = (privateKey) => new braintree.BraintreeGateway({
  environment: braintree.Environment.Sandbox, merchantId: 'merchant', publicKey: 'public_key_1', privateKey,
});

const braintreeSpec = {
  provider: 'braintree', by: versionOf('braintree'), url: 'https://hooks.example.com/in/braintree', secret: 'private_key_1', config: { publicKey: 'public_key_1' },
  judge: async (r) => {
    const sent = querystring.parse(r.body);
    return !!(await gateway(r.secret).webhookNotification.parse(sent.bt_signature, sent.bt_payload));
  },
  cases() {
    const out = [];
    const xml = '<notification>\n  <timestamp type="datetime">2026-01-01T00:00:00Z</timestamp>\n  <kind>check</kind>\n  <subject><check type="boolean">true</check></subject>\n</notification>';
    const lines = (value) => `${value.match(/.{1,60}/g).join('\n')}\n`;
    const payload = lines(Buffer.from(xml).toString('base64'));
    const signed = (text, secret = this.secret) => hmac('sha1', hash('sha1', secret), text).toString('hex');
    const add = (note, want, o = {}) => {
      const sent = [['bt_signature', o.signature ?? `public_key_1|${signed(o.signPayload ?? o.payload ?? payload, o.signSecret)}`], ['bt_payload', o.payload ?? payload]]
        .filter(([name]) => name !== o.without);
      out.push(vector(this, { headers: FORM, body: o.body ?? form(sent) }, note, want));
    };
    add(FIRST, true);
    add('without the last line end, signed with it', true, { payload: payload.trimEnd(), signPayload: payload });
    add('on one line', true, { payload: payload.replaceAll('\n', '') });
    add('several pairs, ours is the last', true, { signature: `other_key|${signed(payload, 'x')}&public_key_1|${signed(payload)}` });
    add('several pairs, ours is the first', true, { signature: `public_key_1|${signed(payload)}&other_key|${signed(payload, 'x')}` });
    add('a pair of somebody else', false, { signature: `other_key|${signed(payload)}` });
    add('signed with another secret', false, { signSecret: 'private_key_2' });
    add('the payload changed', false, { payload: payload.replace('P', 'Q'), signPayload: payload });
    add('a character that base64 has not', false, { payload: `${payload.trimEnd()}!` });
    add('no signature', false, { without: 'bt_signature' });
    add('no payload', false, { without: 'bt_payload' });
    add('an empty signature', false, { signature: '' });
    add('a signature without its key', false, { signature: signed(payload) });
    add('an empty body', false, { body: '' });
    add('the key used as it is', false, { signature: `public_key_1|${hmac('sha1', this.secret, payload).toString('hex')}` });
    return out;
  },
};

export default [twilioSpec, plivoSpec, braintreeSpec];
