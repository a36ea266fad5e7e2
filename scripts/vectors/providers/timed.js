// Providers that sign a time together with the body.

import { hash, hmac, require, versionOf } from '../engine.js';

const url = 'https://hooks.example.com/in/source';

function row(provider, library, rest) {
  return {
    provider,
    by: library && versionOf(library),
    url,
    secret: `${provider}-signing-secret-1`,
    other: `${provider}-signing-secret-2`,
    encoding: 'hex',
    time: (at) => `${at}`,
    ...rest,
  };
}
const seconds = (at) => `${at}`;
const milliseconds = (at) => `${Math.round(at * 1000)}`;

const stripe = new (require('stripe'))('sk_test_x');
const bolt = require('@slack/bolt/dist/receivers/verify-request.js');
const { Signature } = require('@hubspot/api-client/lib/src/utils/signature.js');
const { Paddle } = require('@paddle/paddle-node-sdk');
const square = require('square').WebhooksHelper;
const { WebhooksManager } = require('box-node-sdk/lib/managers/webhooks');
const { WorkOS } = require('@workos-inc/node');
const Mux = require('@mux/mux-node').default ?? require('@mux/mux-node');
const Orb = require('orb-billing').default ?? require('orb-billing');
const { ElevenLabsClient } = require('@elevenlabs/elevenlabs-js');
const { Retell } = require('retell-sdk');
const webflow = require('webflow-api');
const sanity = await import('@sanity/webhook');
const cloudinary = require('cloudinary').v2;
const { Cashfree } = require('cashfree-pg');
const { EventSubHttpListener } = await import('@twurple/eventsub-http');

const stamped = (ts, separator = '.') => ({ secret, body, at }) => hmac('sha256', secret, `${ts(at)}${separator}`, body);

const hubspotUrl = 'https://hooks.example.com/in/hubspot';
const hubspotBody = '[{"eventId":1,"subscriptionId":7,"portalId":62515,"occurredAt":1767225590000,"subscriptionType":"contact.creation","attemptNumber":0,"objectId":123}]';

export default [
  row('stripe', 'stripe', {
    json: true, several: true, list: true, large: true, secret: 'whsec_test_1234567890abcdef', other: 'whsec_test_other',
    tolerance: 300,
    digest: stamped(seconds),
    signature: 'Stripe-Signature',
    headers: ({ signatures, at }) => ({ 'Stripe-Signature': [`t=${at}`, ...signatures.map((s) => `v1=${s}`)].join(',') }),
    judge: (r) => stripe.webhooks.constructEvent(r.raw, r.headers['stripe-signature'], r.secret),
    more: (sign, add) => {
      const good = sign();
      const signed = good.headers['Stripe-Signature'];
      add('only a v0 signature', false, { ...good, headers: { 'Stripe-Signature': signed.replace('v1=', 'v0=') } });
      add('a v0 signature beside the v1', true, { ...good, headers: { 'Stripe-Signature': `${signed},v0=${'0'.repeat(64)}` } });
      add('the signature before the time', true, { ...good, headers: { 'Stripe-Signature': signed.split(',').reverse().join(',') } });
      add('fields nobody knows', true, { ...good, headers: { 'Stripe-Signature': `x=1,${signed},y=` } });
      add('no time', false, { ...good, headers: { 'Stripe-Signature': signed.split(',')[1] } });
      add('whsec_ taken off the secret', false, { ...sign({ secret: 'test_1234567890abcdef' }) });
    },
  }),
  row('slack', '@slack/bolt', {
    tolerance: 300,
    digest: ({ secret, body, at }) => hmac('sha256', secret, `v0:${at}:`, body),
    signature: 'X-Slack-Signature', needs: ['X-Slack-Request-Timestamp'],
    headers: ({ signatures, at }) => ({ 'X-Slack-Request-Timestamp': `${at}`, 'X-Slack-Signature': `v0=${signatures[0]}` }),
    judge: (r) => bolt.isValidSlackRequest({
      signingSecret: r.secret, body: r.body,
      headers: { 'x-slack-signature': r.headers['x-slack-signature'], 'x-slack-request-timestamp': r.headers['x-slack-request-timestamp'] === undefined ? undefined : Number.parseInt(r.headers['x-slack-request-timestamp'], 10) },
    }),
  }),
  row('hubspot', '@hubspot/api-client', {
    url: hubspotUrl, sample: hubspotBody, encoding: 'base64', tolerance: 300, time: milliseconds, signsUrl: true,
    digest: ({ secret, body, at, url, method }) => hmac('sha256', secret, `${method}${url}`, body, milliseconds(at)),
    signature: 'X-HubSpot-Signature-v3', needs: ['X-HubSpot-Request-Timestamp'],
    headers: ({ signatures, at }) => ({ 'X-HubSpot-Request-Timestamp': milliseconds(at), 'X-HubSpot-Signature-v3': signatures[0] }),
    judge: (r) => Signature.isValid({
      signature: r.headers['x-hubspot-signature-v3'], clientSecret: r.secret, requestBody: r.body, url: r.url, method: r.method,
      signatureVersion: 'v3', timestamp: r.headers['x-hubspot-request-timestamp'] && Number(r.headers['x-hubspot-request-timestamp']),
    }),
  }),
  ...['v1', 'v2'].map((version) => row(`hubspot-${version}`, '@hubspot/api-client', {
    url: hubspotUrl, sample: hubspotBody, signsUrl: version === 'v2', time: undefined,
    digest: ({ secret, body, url, method }) => hash('sha256', secret, version === 'v2' ? `${method}${url}` : '', body),
    signature: 'X-HubSpot-Signature',
    headers: ({ signatures }) => ({ 'X-HubSpot-Signature': signatures[0], 'X-HubSpot-Signature-Version': version }),
    judge: (r) => Signature.isValid({
      signature: r.headers['x-hubspot-signature'], clientSecret: r.secret, requestBody: r.body, url: r.url, method: r.method,
      signatureVersion: r.headers['x-hubspot-signature-version'],
    }),
  })),
  row('paddle', '@paddle/paddle-node-sdk', {
    several: true, list: true, tolerance: 5, ahead: 5, rotates: false, secret: 'pdl_ntfset_01h_secret-1', other: 'pdl_ntfset_01h_secret-2',
    digest: stamped(seconds, ':'),
    signature: 'Paddle-Signature',
    headers: ({ signatures, at }) => ({ 'Paddle-Signature': [`ts=${at}`, ...signatures.map((s) => `h1=${s}`)].join(';') }),
    judge: (r) => new Paddle('key').webhooks.isSignatureValid(r.body, r.secret, r.headers['paddle-signature']),
  }),
  row('square', 'square', {
    encoding: 'base64', time: undefined, signsUrl: true, config: { notificationUrl: url }, configOf: (u) => ({ notificationUrl: u }),
    digest: ({ secret, body, url }) => hmac('sha256', secret, url, body),
    signature: 'x-square-hmacsha256-signature',
    headers: ({ signatures }) => ({ 'x-square-hmacsha256-signature': signatures[0] }),
    judge: (r) => square.verifySignature({ requestBody: r.body, signatureHeader: r.headers['x-square-hmacsha256-signature'], signatureKey: r.secret, notificationUrl: r.config.notificationUrl }),
  }),
  row('box', 'box-node-sdk', {
    encoding: 'base64', tolerance: 600, ahead: 0, time: (at) => new Date(at * 1000).toISOString(),
    digest: ({ secret, body, at }) => hmac('sha256', secret, body, new Date(at * 1000).toISOString()),
    signature: 'BOX-SIGNATURE-PRIMARY', needs: ['BOX-DELIVERY-TIMESTAMP', 'BOX-SIGNATURE-VERSION', 'BOX-SIGNATURE-ALGORITHM'],
    headers: ({ signatures, at }) => ({
      'BOX-DELIVERY-ID': 'f96bb54b-ee16-4fc5-aa65-8c2d9e5b546f', 'BOX-DELIVERY-TIMESTAMP': new Date(at * 1000).toISOString(),
      'BOX-SIGNATURE-VERSION': '1', 'BOX-SIGNATURE-ALGORITHM': 'HmacSHA256', 'BOX-SIGNATURE-PRIMARY': signatures[0],
    }),
    judge: (r) => WebhooksManager.validateMessage(r.body, r.headers, r.secret, { secondaryKey: r.previousSecrets?.[0] }),
    more: (sign, add, spec) => {
      const good = sign();
      const second = { ...good, headers: { ...good.headers, 'BOX-SIGNATURE-PRIMARY': undefined, 'BOX-SIGNATURE-SECONDARY': sign({ secret: spec.other }).headers['BOX-SIGNATURE-PRIMARY'] } };
      add('signed with the second key alone', true, second, { previousSecrets: [spec.other] });
      add('the second signature, but no second key', false, second);
      add('another version of the scheme', false, { ...good, headers: { ...good.headers, 'BOX-SIGNATURE-VERSION': '2' } });
      add('another algorithm', false, { ...good, headers: { ...good.headers, 'BOX-SIGNATURE-ALGORITHM': 'HmacSHA1' } });
      const zone = '2025-12-31T16:00:00-08:00';
      add('a time with a zone', true, { ...good, headers: { ...good.headers, 'BOX-DELIVERY-TIMESTAMP': zone, 'BOX-SIGNATURE-PRIMARY': hmac('sha256', spec.secret, good.body, zone).toString('base64') } });
    },
  }),
  row('workos', '@workos-inc/node', {
    json: true, list: true, tolerance: 180, ahead: 180, time: milliseconds,
    digest: stamped(milliseconds),
    signature: 'WorkOS-Signature',
    headers: ({ signatures, at }) => ({ 'WorkOS-Signature': `t=${milliseconds(at)}, v1=${signatures[0]}` }),
    judge: (r) => new WorkOS('sk_test').webhooks.verifyHeader({ payload: JSON.parse(r.body), sigHeader: r.headers['workos-signature'], secret: r.secret }),
  }),
  row('mux', '@mux/mux-node', {
    several: true, list: true, tolerance: 300,
    digest: stamped(seconds),
    signature: 'Mux-Signature',
    headers: ({ signatures, at }) => ({ 'Mux-Signature': [`t=${at}`, ...signatures.map((s) => `v1=${s}`)].join(',') }),
    judge: async (r) => { await new Mux({ tokenId: 'a', tokenSecret: 'b' }).webhooks.verifySignature(r.body, r.headers, r.secret); return true; },
  }),
  row('orb', 'orb-billing', {
    several: true, tolerance: 300, ahead: 300, time: (at) => new Date(at * 1000).toISOString().replace('Z', ''), list: true,
    digest: ({ secret, body, at }) => hmac('sha256', secret, `v1:${new Date(at * 1000).toISOString().replace('Z', '')}:`, body),
    signature: 'X-Orb-Signature', needs: ['X-Orb-Timestamp'],
    headers: ({ signatures, at }) => ({ 'X-Orb-Timestamp': new Date(at * 1000).toISOString().replace('Z', ''), 'X-Orb-Signature': signatures.map((s) => `v1=${s}`).join(' ') }),
    judge: (r) => { new Orb({ apiKey: 'k' }).webhooks.verifySignature(r.body, r.headers, r.secret); return true; },
  }),
  row('elevenlabs', '@elevenlabs/elevenlabs-js', {
    json: true, list: true, tolerance: 1800,
    digest: stamped(seconds),
    signature: 'ElevenLabs-Signature',
    headers: ({ signatures, at }) => ({ 'ElevenLabs-Signature': `t=${at},v0=${signatures[0]}` }),
    judge: (r) => new ElevenLabsClient({ apiKey: 'k' }).webhooks.constructEvent(r.body, r.headers['elevenlabs-signature'], r.secret),
  }),
  row('retell', 'retell-sdk', {
    list: true, tolerance: 300, ahead: 300, time: milliseconds,
    digest: ({ secret, body, at }) => hmac('sha256', secret, body, milliseconds(at)),
    signature: 'X-Retell-Signature',
    headers: ({ signatures, at }) => ({ 'X-Retell-Signature': `v=${milliseconds(at)},d=${signatures[0]}` }),
    judge: (r) => Retell.verify(r.body, r.secret, r.headers['x-retell-signature']),
  }),
  row('webflow', 'webflow-api', {
    time: milliseconds,
    digest: stamped(milliseconds, ':'),
    signature: 'x-webflow-signature', needs: ['x-webflow-timestamp'],
    headers: ({ signatures, at }) => ({ 'x-webflow-timestamp': milliseconds(at), 'x-webflow-signature': signatures[0] }),
    judge: (r) => new webflow.WebflowClient({ accessToken: 'x' }).webhooks.verifySignature({ headers: r.headers, body: r.body, secret: r.secret }),
  }),
  row('sanity', '@sanity/webhook', {
    encoding: 'base64url', list: true, time: milliseconds,
    digest: stamped(milliseconds),
    signature: 'sanity-webhook-signature',
    headers: ({ signatures, at }) => ({ 'sanity-webhook-signature': `t=${milliseconds(at)},v1=${signatures[0]}` }),
    judge: (r) => sanity.isValidRequest({ headers: r.headers, body: r.body }, r.secret),
  }),
  ...['sha1', 'sha256'].map((algorithm) => row('cloudinary', 'cloudinary', {
    file: `cloudinary-${algorithm}`, config: algorithm === 'sha1' ? undefined : { algorithm },
    tolerance: 7200,
    digest: ({ secret, body, at }) => hash(algorithm, body, `${at}`, secret),
    signature: 'X-Cld-Signature', needs: ['X-Cld-Timestamp'],
    headers: ({ signatures, at }) => ({ 'X-Cld-Timestamp': `${at}`, 'X-Cld-Signature': signatures[0] }),
    judge: (r) => {
      cloudinary.config({ cloud_name: 'c', api_key: 'k', api_secret: r.secret, signature_algorithm: algorithm });
      return cloudinary.utils.verifyNotificationSignature(r.body, r.headers['x-cld-timestamp'], r.headers['x-cld-signature']);
    },
  })),
  row('cashfree', 'cashfree-pg', {
    json: true, encoding: 'base64', time: milliseconds,
    digest: stamped(milliseconds, ''),
    signature: 'x-webhook-signature', needs: ['x-webhook-timestamp'],
    headers: ({ signatures, at }) => ({ 'x-webhook-timestamp': milliseconds(at), 'x-webhook-signature': signatures[0] }),
    judge: (r) => new Cashfree('SANDBOX', 'id', r.secret).PGVerifyWebhookSignature(r.headers['x-webhook-signature'], r.body, r.headers['x-webhook-timestamp']),
  }),
  // Not Twitch's own library; the one its community uses.
  row('twitch', '@twurple/eventsub-http', {
    recommended: true, time: (at) => new Date(at * 1000).toISOString(),
    digest: ({ secret, body, at }) => hmac('sha256', secret, 'e76c6bd4-55c9-4987-8304-da1588d8988b', new Date(at * 1000).toISOString(), body),
    signature: 'Twitch-Eventsub-Message-Signature', needs: ['Twitch-Eventsub-Message-Id', 'Twitch-Eventsub-Message-Timestamp'],
    headers: ({ signatures, at }) => ({
      'Twitch-Eventsub-Message-Id': 'e76c6bd4-55c9-4987-8304-da1588d8988b', 'Twitch-Eventsub-Message-Timestamp': new Date(at * 1000).toISOString(),
      'Twitch-Eventsub-Message-Type': 'notification', 'Twitch-Eventsub-Message-Signature': `sha256=${signatures[0]}`,
    }),
    judge: (r) => EventSubHttpListener.prototype._verifyData.call({ _secret: r.secret }, r.headers['twitch-eventsub-message-id'], r.headers['twitch-eventsub-message-timestamp'], r.body, r.headers['twitch-eventsub-message-signature']),
  }),
];
