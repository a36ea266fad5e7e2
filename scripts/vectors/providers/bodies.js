// Providers whose signature, or whose time, is in the body.

import { FIRST, NOW, hmac, require, vector, versionOf } from '../engine.js';

const { hmacValidator: HmacValidator } = require('@adyen/api-library');
const dropboxSign = require('@dropbox/sign');
const { LinearWebhookClient } = await import('@linear/sdk/webhooks');
const { AwsLambdaReceiver } = await import('@zoom/rivet/meetings');

const url = 'https://hooks.example.com/in/source';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const adyenKey = '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056';

const adyen = {
  provider: 'adyen', by: versionOf('@adyen/api-library'), url, secret: adyenKey,
  judge: (r) => {
    const items = JSON.parse(r.body).notificationItems;
    return items.length > 0 && items.every((item) => new HmacValidator().validateHMAC(item.NotificationRequestItem, r.secret));
  },
  cases() {
    const out = [];
    const base = { pspReference: '7914073381342284', merchantAccountCode: 'TestMerchant', merchantReference: 'TestPayment-1407325143704', amount: { value: 1130, currency: 'EUR' }, eventCode: 'AUTHORISATION', success: 'true', eventDate: '2026-01-01T00:00:00+01:00', paymentMethod: 'visa' };
    const line = (i) => [i.pspReference, i.originalReference ?? '', i.merchantAccountCode, i.merchantReference ?? '', i.amount.value, i.amount.currency, i.eventCode, i.success].join(':');
    const item = (change = {}, o = {}) => {
      const inner = { ...base, ...change };
      const signature = o.signature ?? hmac('sha256', Buffer.from(o.key ?? adyenKey, 'hex'), line(inner)).toString('base64');
      return { NotificationRequestItem: { additionalData: o.none ? {} : { hmacSignature: signature, cardSummary: '7777' }, ...inner, ...o.after } };
    };
    const add = (note, want, items, o = {}) => out.push(vector(this, { headers: JSON_TYPE, body: o.body ?? JSON.stringify({ live: 'false', notificationItems: items }), secret: o.secret }, note, want));
    add(FIRST, true, [item()]);
    add('with the reference of the original', true, [item({ originalReference: '8313547924770610', eventCode: 'CAPTURE' })]);
    add('nothing to pay', true, [item({ amount: { value: 0, currency: 'EUR' } })]);
    add('a reference beyond ASCII', true, [item({ merchantReference: 'Bestellung Ä 🚢' })]);
    add('colons and backslashes in a reference', true, [item({ merchantReference: 'a:b\\c' })]);
    add('an empty reference', true, [item({ merchantReference: '' })]);
    add('what is not signed may differ', true, [item({}, { after: { paymentMethod: 'mc', reason: 'x' } })]);
    add('two items, both fit', true, [item(), item({ pspReference: '2' })]);
    add('two items, the second does not fit', false, [item(), item({ pspReference: '2' }, { after: { pspReference: '3' } })]);
    add('two items, the second is not signed', false, [item(), item({}, { none: true })]);
    add('the amount changed', false, [item({}, { after: { amount: { value: 1, currency: 'EUR' } } })]);
    add('the currency changed', false, [item({}, { after: { amount: { value: 1130, currency: 'USD' } } })]);
    add('the outcome changed', false, [item({}, { after: { success: 'false' } })]);
    add('the account changed', false, [item({}, { after: { merchantAccountCode: 'Other' } })]);
    add('signed with another secret', false, [item({}, { key: adyenKey.replace('4', '5') })]);
    add('the key used as text', false, [item({}, { signature: hmac('sha256', adyenKey, line(base)).toString('base64') })]);
    add('no signature', false, [item({}, { none: true })]);
    add('an empty signature', false, [item({}, { signature: '' })]);
    add('hex instead of base64', false, [item({}, { signature: hmac('sha256', Buffer.from(adyenKey, 'hex'), line(base)).toString('hex') })]);
    add('the key in small letters', true, [item()], { secret: adyenKey.toLowerCase() });
    add('no items', false, []);
    add('an empty body', false, [], { body: '' });
    add('a body that is no JSON', false, [], { body: 'a=b' });
    return out;
  },
};

// Judged by the Python library.
const mailgun = {
  provider: 'mailgun', url, secret: 'key-3ax6xnjp29jd6fds4gc373sgvjxteol0',
  cases() {
    const out = [];
    const token = 'a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0';
    const add = (note, want, o = {}) => {
      const timestamp = `${o.at ?? NOW}`;
      const signature = hmac('sha256', o.signSecret ?? this.secret, timestamp, o.signToken ?? token).toString('hex');
      const sent = { timestamp, token, signature, ...o.change };
      for (const name of Object.keys(sent)) if (sent[name] === undefined) delete sent[name];
      out.push(vector(this, { headers: JSON_TYPE, body: o.body ?? JSON.stringify({ signature: sent, 'event-data': { id: 'ev-1', event: 'opened' } }) }, note, want, o));
    };
    add(FIRST, true);
    add('a minute old', true, { at: NOW - 60 });
    add('a little less than a quarter of an hour old', true, { at: NOW - 899 });
    add('more than a quarter of an hour old', false, { at: NOW - 901 });
    add('a day old', false, { at: NOW - 86400 });
    add('a minute ahead', true, { at: NOW + 60 });
    add('a day ahead', false, { at: NOW + 86400 });
    add('signed with another secret', false, { signSecret: 'key-other' });
    add('another token', false, { signToken: 'other' });
    add('the time changed after signing', false, { change: { timestamp: `${NOW + 1}` } });
    add('one character of the signature changed', false, { change: { signature: `${'0'.repeat(63)}1` } });
    add('an empty signature', false, { change: { signature: '' } });
    add('no signature', false, { change: { signature: undefined } });
    add('no token', false, { change: { token: undefined } });
    add('no time', false, { change: { timestamp: undefined } });
    add('a time that is no number', false, { change: { timestamp: 'soon' } });
    add('an empty body', false, { body: '' });
    add('a body that is no JSON', false, { body: '{' });
    return out;
  },
};

const dropbox = {
  provider: 'dropbox-sign', by: versionOf('@dropbox/sign'), url, secret: '324e3b0840f065eb51f3fd63231d0d33daa35d4ed10d27718839e81737065782',
  judge: (r) => {
    const field = /name="json"\r\n\r\n([\s\S]*?)\r\n--/.exec(r.body)?.[1] ?? new URLSearchParams(r.body).get('json');
    return dropboxSign.EventCallbackHelper.isValid(r.secret, dropboxSign.EventCallbackRequest.init(JSON.parse(field)));
  },
  cases() {
    const out = [];
    const add = (note, want, o = {}) => {
      const event = { event_time: `${NOW}`, event_type: 'signature_request_signed', event_metadata: { related_signature_id: null } };
      event.event_hash = hmac('sha256', o.signSecret ?? this.secret, event.event_time + event.event_type).toString('hex');
      Object.assign(event, o.change);
      const json = JSON.stringify({ event, signature_request: { title: o.title ?? 'NDA' } });
      const boundary = '----------------------------d74496d66958';
      const multipart = `--${boundary}\r\nContent-Disposition: form-data; name="json"\r\n\r\n${json}\r\n--${boundary}--\r\n`;
      const plain = o.form ? { 'Content-Type': 'application/x-www-form-urlencoded' } : { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
      out.push(vector(this, { headers: plain, body: o.body ?? (o.form ? `json=${encodeURIComponent(json)}` : multipart) }, note, want));
    };
    add(FIRST, true);
    add('as a plain form', true, { form: true });
    add('a title beyond ASCII', true, { title: 'Übergabe 🚢' });
    add('signed with another secret', false, { signSecret: 'other' });
    add('the type changed', false, { change: { event_type: 'signature_request_declined' } });
    add('the time changed', false, { change: { event_time: `${NOW + 1}` } });
    add('an empty hash', false, { change: { event_hash: '' } });
    add('no hash', false, { change: { event_hash: undefined } });
    add('an empty body', false, { body: '' });
    return out;
  },
};

const linear = {
  provider: 'linear', by: versionOf('@linear/sdk'), url, secret: 'lin_wh_1', other: 'lin_wh_2', json: true, binary: true, encoding: 'hex',
  tolerance: 60, ahead: 60, time: (at) => `${at * 1000}`,
  bodyAt: (at) => JSON.stringify({ action: 'create', type: 'Issue', data: { id: 'i1' }, webhookTimestamp: Math.round(at * 1000), webhookId: 'w1' }),
  unicode: `{"action":"update","type":"Comment","data":{"body":"Zoë 🚢"},"webhookTimestamp":${NOW * 1000}}`,
  pretty: `{\n  "webhookTimestamp" : ${NOW * 1000},\n "action": "x" }`,
  digest: ({ secret, body }) => hmac('sha256', secret, body),
  signature: 'Linear-Signature',
  headers: ({ signatures }) => ({ 'Linear-Signature': signatures[0], 'Linear-Event': 'Issue', 'Linear-Delivery': '234d1a4e-b617-4388-90fe-adc3633d6b72' }),
  judge: (r) => new LinearWebhookClient(r.secret).verify(r.raw, r.headers['linear-signature']),
  more: (sign, add) => {
    add('no time in the body', false, sign({ body: '{"action":"create","type":"Issue"}' }));
    add('a time in the body that is text', false, sign({ body: `{"webhookTimestamp":"${NOW * 1000}"}` }));
    const old = sign({ body: `{"webhookTimestamp":${(NOW - 3600) * 1000}}` });
    add('an old body under a new time in the header', false, { ...old, headers: { ...old.headers, 'Linear-Timestamp': `${NOW * 1000}` } });
  },
};

const zoom = {
  provider: 'zoom', by: versionOf('@zoom/rivet'), url, secret: 'zoom-secret-token-1', other: 'zoom-secret-token-2', json: true, encoding: 'hex', time: (at) => `${at}`,
  sample: '{"event":"meeting.started","event_ts":1767225600000,"payload":{"account_id":"a1","object":{"id":"85746065"}}}',
  unicode: '{"event":"meeting.started","event_ts":1767225600000,"payload":{"object":{"topic":"Zoë 🚢"}}}',
  pretty: '{ "event": "meeting.started", "event_ts": 1767225600000, "payload": {} }',
  digest: ({ secret, body, at }) => hmac('sha256', secret, `v0:${at}:`, body),
  signature: 'x-zm-signature', needs: ['x-zm-request-timestamp'],
  headers: ({ signatures, at }) => ({ 'x-zm-request-timestamp': `${at}`, 'x-zm-signature': `v0=${signatures[0]}` }),
  judge: async (r) => {
    const receiver = new AwsLambdaReceiver({ webhooksSecretToken: r.secret });
    receiver.init({ eventEmitter: { emit: async () => {} } });
    const answer = await receiver.start()({ headers: r.headers, body: r.body, isBase64Encoded: false });
    return answer.statusCode === 200;
  },
};

export default [adyen, mailgun, dropbox, linear, zoom];
