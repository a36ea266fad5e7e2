// Providers that sign the body, and nothing else, with an HMAC in a header.

import { hmac, require, versionOf } from '../engine.js';

const url = 'https://hooks.example.com/in/source';
const body = (algorithm = 'sha256') => ({ secret, body }) => hmac(algorithm, secret, body);
const bare = (signature) => ({ signatures }) => ({ [signature]: signatures[0] });

function row(provider, library, signature, rest) {
  return {
    provider,
    by: library && versionOf(library),
    url,
    secret: `${provider}-signing-secret-1`,
    other: `${provider}-signing-secret-2`,
    encoding: 'hex',
    digest: body(),
    signature,
    headers: bare(signature),
    ...rest,
  };
}

const octokit = await import('@octokit/webhooks-methods');
const { shopifyApi } = await import('@shopify/shopify-api');
await import('@shopify/shopify-api/adapters/node');
const line = require('@line/bot-sdk');
const razorpay = require('razorpay/dist/utils/razorpay-utils.js');
const gocardless = require('gocardless-nodejs/webhooks');
const coinbase = require('coinbase-commerce-node').Webhook;
const { StreamChat } = require('stream-chat');
const ModernTreasury = require('modern-treasury').default ?? require('modern-treasury');
const smartcar = require('smartcar');
const Pusher = require('pusher');
const { hmacValidator: HmacValidator } = require('@adyen/api-library');
const { SignatureValidator } = require('mollie-api-typescript/utils/webhooks/signature_validator.js');

function shopify(request) {
  const api = shopifyApi({
    apiKey: 'key', apiSecretKey: request.secret, scopes: [], hostName: 'hooks.example.com',
    apiVersion: '2025-01', isEmbeddedApp: true, logger: { level: 0 },
  });
  const rawRequest = { method: 'POST', url: '/in/source', headers: request.headers };
  return api.webhooks.validate({ rawBody: request.body, rawRequest, rawResponse: {} }).then((found) => found.valid);
}

const shopifyHeaders = {
  'X-Shopify-Topic': 'orders/create', 'X-Shopify-Shop-Domain': 'shop.myshopify.com',
  'X-Shopify-API-Version': '2025-01', 'X-Shopify-Webhook-Id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
};
// What its events of the newer kind carry.
const eventsHeaders = {
  'Shopify-Topic': 'orders/create', 'Shopify-Shop-Domain': 'shop.myshopify.com', 'Shopify-Api-Version': '2025-01',
  'Shopify-Webhook-Id': 'b54557e4', 'Shopify-Event-Id': 'e1', 'Shopify-Handle': 'orders', 'Shopify-Action': 'create', 'Shopify-Resource-Id': 'r1',
};

const adyenKey = '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056';
const adyenOther = '11112DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056';

export default [
  row('github', '@octokit/webhooks-methods', 'X-Hub-Signature-256', {
    headers: ({ signatures }) => ({ 'X-Hub-Signature-256': `sha256=${signatures[0]}`, 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' }),
    judge: (r) => (r.previousSecrets
      ? octokit.verifyWithFallback(r.secret, r.body, r.headers['x-hub-signature-256'], r.previousSecrets)
      : octokit.verify(r.secret, r.body, r.headers['x-hub-signature-256'])),
    rotates: true,
    large: true,
  }),
  row('shopify', '@shopify/shopify-api', 'X-Shopify-Hmac-Sha256', {
    encoding: 'base64',
    headers: ({ signatures }) => ({ 'X-Shopify-Hmac-Sha256': signatures[0], ...shopifyHeaders }),
    judge: shopify,
  }),
  row('shopify', '@shopify/shopify-api', 'Shopify-Hmac-Sha256', {
    file: 'shopify-events', encoding: 'base64',
    headers: ({ signatures }) => ({ 'Shopify-Hmac-Sha256': signatures[0], ...eventsHeaders }),
    judge: shopify,
  }),
  row('line', '@line/bot-sdk', 'X-Line-Signature', {
    encoding: 'base64', binary: true,
    judge: (r) => line.validateSignature(r.raw, r.secret, r.headers['x-line-signature']),
  }),
  row('razorpay', 'razorpay', 'X-Razorpay-Signature', {
    judge: (r) => razorpay.validateWebhookSignature(r.body, r.headers['x-razorpay-signature'], r.secret),
  }),
  row('gocardless', 'gocardless-nodejs', 'Webhook-Signature', {
    judge: (r) => gocardless.verifySignature(r.body, r.secret, r.headers['webhook-signature']) !== false,
  }),
  row('coinbase-commerce', 'coinbase-commerce-node', 'X-CC-Webhook-Signature', {
    judge: (r) => coinbase.verifySigHeader(r.body, r.headers['x-cc-webhook-signature'], r.secret),
  }),
  row('stream', 'stream-chat', 'X-Signature', {
    binary: true,
    judge: (r) => new StreamChat('key', r.secret).verifyWebhook(r.raw, r.headers['x-signature']),
  }),
  row('modern-treasury', 'modern-treasury', 'X-Signature', {
    judge: (r) => new ModernTreasury({ organizationID: 'o', apiKey: 'k', webhookKey: r.secret })
      .webhooks.validateSignature(r.body, r.headers, { key: r.secret }),
  }),
  row('smartcar', 'smartcar', 'SC-Signature', {
    json: true,
    judge: (r) => smartcar.verifyPayload(r.secret, r.headers['sc-signature'], JSON.parse(r.body)),
  }),
  row('pusher', 'pusher', 'X-Pusher-Signature', {
    json: true,
    config: { key: 'app-key-1' },
    headers: ({ signatures }) => ({ 'X-Pusher-Key': 'app-key-1', 'X-Pusher-Signature': signatures[0] }),
    judge: (r) => new Pusher({ appId: '1', key: 'app-key-1', secret: r.secret })
      .webhook({ headers: r.headers, rawBody: r.body }).isValid((r.previousSecrets ?? []).map((secret) => ({ key: 'app-key-1', secret }))),
    rotates: true,
  }),
  row('adyen-platform', '@adyen/api-library', 'HmacSignature', {
    secret: adyenKey, other: adyenOther, keyed: true, encoding: 'base64',
    digest: ({ secret, body }) => hmac('sha256', Buffer.from(secret, 'hex'), body),
    judge: (r) => new HmacValidator().validateHMACSignature(r.secret, r.headers.hmacsignature, r.body),
  }),
  row('mollie', 'mollie-api-typescript', 'X-Mollie-Signature', {
    prefixOptional: true,
    headers: ({ signatures }) => ({ 'X-Mollie-Signature': `sha256=${signatures[0]}` }),
    judge: (r) => new SignatureValidator([r.secret, ...(r.previousSecrets ?? [])]).validatePayload(r.body, r.headers['x-mollie-signature']),
    rotates: true,
  }),
  // Judged by the Python library of before version 6, which still verified.
  row('nylas', null, 'X-Nylas-Signature', { binary: true }),
];
