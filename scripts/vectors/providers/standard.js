// Standard Webhooks and those who speak it, under whatever names.

import { hmac, require, versionOf } from '../engine.js';

const url = 'https://hooks.example.com/in/source';
const key = (secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
const id = 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk';

function row(provider, library, prefix, rest) {
  const names = prefix === 'finch'
    ? { id: 'Finch-Event-ID', time: 'Finch-Timestamp', signature: 'Finch-Signature' }
    : { id: `${prefix}-id`, time: `${prefix}-timestamp`, signature: `${prefix}-signature` };
  const decode = rest.decode ?? key;
  return {
    provider,
    by: versionOf(library),
    url,
    json: true,
    keyed: true,
    several: true,
    list: true,
    encoding: 'base64',
    secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    other: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    tolerance: 300,
    ahead: 300,
    time: (at) => `${at}`,
    digest: ({ secret, body, at }) => hmac('sha256', decode(secret), `${id}.${at}.`, body),
    signature: names.signature,
    needs: [names.id, names.time],
    headers: ({ signatures, at }) => ({ [names.id]: id, [names.time]: `${at}`, [names.signature]: signatures.map((s) => `v1,${s}`).join(' ') }),
    more: (sign, add, spec) => {
      const good = sign();
      const put = (headers) => ({ ...good, headers: { ...good.headers, ...headers } });
      const value = good.headers[names.signature];
      add('only a version nobody knows', false, put({ [names.signature]: value.replace('v1,', 'v2,') }));
      add('an asymmetric signature beside it', true, put({ [names.signature]: `v1a,${'A'.repeat(86)}== ${value}` }));
      add('another id', false, put({ [names.id]: 'msg_other' }));
      add('no version', undefined, put({ [names.signature]: value.slice(3) }));
      rest.more?.(sign, add, spec, put);
    },
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => name !== 'more')),
  };
}

const { Webhook: Svix } = require('svix');
const { Webhook: Standard } = require('standardwebhooks');
const { verifyWebhook } = await import('@clerk/backend/webhooks');
const { Resend } = require('resend');
const OpenAI = require('openai').default ?? require('openai');
const Anthropic = require('@anthropic-ai/sdk').default;
const { validateWebhook } = require('replicate');
const polar = require('@polar-sh/sdk/webhooks');
const Lithic = require('lithic').default ?? require('lithic');
const Finch = require('@tryfinch/finch-api').default ?? require('@tryfinch/finch-api');

const fetched = (r) => new Request(r.url, { method: 'POST', headers: r.headers, body: r.body || undefined });
const done = (work) => { work(); return true; };

const unprefixed = (sign, add, spec) => add('a secret without its prefix', true, { ...sign(), secret: spec.secret.replace('whsec_', '') });

export default [
  row('svix', 'svix', 'svix', {
    large: true,
    judge: (r) => done(() => new Svix(r.secret).verify(r.body, r.headers)),
    more: (sign, add, spec, put) => {
      unprefixed(sign, add, spec);
      const { 'svix-id': i, 'svix-timestamp': t, 'svix-signature': s, ...rest } = put({}).headers;
      add('under the names of the standard', true, { ...put({}), headers: { ...rest, 'webhook-id': i, 'webhook-timestamp': t, 'webhook-signature': s } });
    },
  }),
  row('standard-webhooks', 'standardwebhooks', 'webhook', {
    judge: (r) => done(() => new Standard(r.secret).verify(r.body, r.headers)),
    more: unprefixed,
  }),
  row('clerk', '@clerk/backend', 'svix', { judge: (r) => verifyWebhook(fetched(r), { signingSecret: r.secret }), more: unprefixed }),
  row('resend', 'resend', 'svix', {
    judge: (r) => done(() => new Resend('re_key').webhooks.verify({
      payload: r.body, webhookSecret: r.secret,
      headers: { id: r.headers['svix-id'], timestamp: r.headers['svix-timestamp'], signature: r.headers['svix-signature'] },
    })),
  }),
  row('openai', 'openai', 'webhook', {
    judge: async (r) => { await new OpenAI({ apiKey: 'k' }).webhooks.verifySignature(r.body, r.headers, r.secret); return true; },
    more: (sign, add) => {
      const raw = 'a-plain-secret-of-openai';
      const good = sign();
      const time = good.headers['webhook-timestamp'];
      const signed = hmac('sha256', raw, `${id}.${time}.`, good.body).toString('base64');
      add('a secret that is plain text', true, { ...good, secret: raw, headers: { ...good.headers, 'webhook-signature': `v1,${signed}` } });
    },
  }),
  row('anthropic', '@anthropic-ai/sdk', 'webhook', {
    judge: (r) => done(() => new Anthropic({ apiKey: 'k' }).beta.webhooks.unwrap(r.body, { headers: r.headers, key: r.secret })),
  }),
  row('replicate', 'replicate', 'webhook', {
    tolerance: undefined, ahead: undefined,
    judge: (r) => validateWebhook({ id: r.headers['webhook-id'], timestamp: r.headers['webhook-timestamp'], signature: r.headers['webhook-signature'], body: r.body, secret: r.secret }),
  }),
  row('polar', '@polar-sh/sdk', 'webhook', {
    secret: 'polar_whs_ab12cd34', other: 'polar_whs_ef56gh78',
    decode: (secret) => secret,
    // It reads the event as well; what matters here is whether it gets that far.
    judge: (r) => {
      try {
        polar.validateEvent(r.body, r.headers, r.secret);
        return true;
      } catch (problem) {
        return !(problem instanceof polar.WebhookVerificationError) && problem?.constructor?.name === 'SDKValidationError';
      }
    },
  }),
  row('lithic', 'lithic', 'webhook', { judge: (r) => done(() => new Lithic({ apiKey: 'k' }).webhooks.verifySignature(r.body, r.headers, r.secret)) }),
  row('finch', '@tryfinch/finch-api', 'finch', {
    secret: 'C2FVsBQIhrscChlQIMV+b5sSYspob7oD', other: 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    judge: (r) => done(() => new Finch({ accessToken: 'k' }).webhooks.verifySignature(r.body, r.headers, r.secret)),
  }),
];
