// Providers that sign with a private key, and give the public one away.

import crypto from 'node:crypto';
import https from 'node:https';
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { FIRST, require, vector, versionOf } from '../engine.js';

const { EventWebhook } = require('@sendgrid/eventwebhook');
const discord = require('discord-interactions');
const Telnyx = require('telnyx').default ?? require('telnyx');
const SnsValidator = require('sns-validator');

const pem = (name) => readFileSync(new URL(`../keys/${name}.pem`, import.meta.url), 'utf8');
const key = (name) => crypto.createPrivateKey(pem(`${name}.key`));
const spki = (name) => crypto.createPublicKey(key(name)).export({ type: 'spki', format: 'der' });
const raw25519 = (name) => spki(name).subarray(-32);

const url = 'https://hooks.example.com/in/source';

const sendgrid = {
  provider: 'sendgrid', by: versionOf('@sendgrid/eventwebhook'), url, encoding: 'base64', keyed: true,
  secret: spki('ec').toString('base64'), other: 'ec-other', time: (at) => `${at}`,
  sample: '[{"email":"a@example.com","timestamp":1767225600,"event":"processed","sg_event_id":"ev1"}]\r\n',
  digest: ({ secret, body, at }) => crypto.sign('sha256', Buffer.concat([Buffer.from(`${at}`), body]), key(secret === 'ec-other' ? 'ec-other' : 'ec')),
  signature: 'X-Twilio-Email-Event-Webhook-Signature', needs: ['X-Twilio-Email-Event-Webhook-Timestamp'],
  headers: ({ signatures, at }) => ({ 'X-Twilio-Email-Event-Webhook-Timestamp': `${at}`, 'X-Twilio-Email-Event-Webhook-Signature': signatures[0] }),
  judge: (r) => {
    const webhook = new EventWebhook();
    return webhook.verifySignature(webhook.convertPublicKeyToECDSA(r.secret), r.body, r.headers['x-twilio-email-event-webhook-signature'], r.headers['x-twilio-email-event-webhook-timestamp'] ?? '');
  },
};

const ed = (provider, library, rest) => ({
  provider, by: versionOf(library), url, keyed: true, time: (at) => `${at}`, other: 'ed25519-other',
  digest: ({ secret, body, at }) => crypto.sign(null, Buffer.concat([Buffer.from(`${at}${rest.separator}`), body]), key(secret === 'ed25519-other' ? 'ed25519-other' : 'ed25519')),
  ...rest,
});

const SNS_CERT = 'https://sns.us-west-2.amazonaws.com/SimpleNotificationService-56e67fcb41f6fec09b0196692625d385.pem';
const sns = {
  provider: 'aws-sns', by: versionOf('sns-validator'), url, secret: '', config: { certificate: pem('rsa.cert') },
  judge: (r) => {
    const wanted = https.get;
    https.get = (at, answer) => {
      const response = new EventEmitter();
      response.statusCode = 200;
      answer(response);
      response.emit('data', pem('rsa.cert'));
      response.emit('end');
      return new EventEmitter();
    };
    return new Promise((resolve) => new SnsValidator().validate(r.body, (problem) => resolve(!problem))).finally(() => { https.get = wanted; });
  },
  cases() {
    const out = [];
    const note = { Type: 'Notification', MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324', TopicArn: 'arn:aws:sns:us-west-2:123456789012:MyTopic', Subject: 'My First Message', Message: 'Hello world!', Timestamp: '2026-01-01T00:00:00.000Z', UnsubscribeURL: 'https://sns.us-west-2.amazonaws.com/?Action=Unsubscribe' };
    const confirm = { Type: 'SubscriptionConfirmation', MessageId: '165545c9', Token: '2336412f37', TopicArn: note.TopicArn, Message: 'You have chosen to subscribe', SubscribeURL: 'https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37', Timestamp: note.Timestamp };
    const sign = (message, version, name = 'rsa') => {
      const names = message.Type === 'SubscriptionConfirmation' ? ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'] : ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'TopicArn', 'Type'];
      const text = names.filter((n) => n in message).map((n) => `${n}\n${message[n]}\n`).join('');
      return crypto.sign(version === '1' ? 'sha1' : 'sha256', Buffer.from(text), key(name)).toString('base64');
    };
    const add = (story, want, given, o = {}) => {
      const message = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      const version = o.version ?? '1';
      const sent = { ...message, SignatureVersion: version, Signature: sign(message, o.signVersion ?? version, o.key), SigningCertURL: o.cert ?? SNS_CERT, ...o.after };
      for (const n of Object.keys(sent)) if (sent[n] === undefined) delete sent[n];
      out.push(vector(this, { headers: { 'Content-Type': 'text/plain; charset=UTF-8', 'x-amz-sns-message-type': message.Type }, body: o.body ?? JSON.stringify(sent) }, story, want));
    };
    add(FIRST, true, note);
    add('the second version', true, note, { version: '2' });
    add('without a subject', true, { ...note, Subject: undefined });
    add('a message beyond ASCII', true, { ...note, Message: 'Zoë 🚢\nnext line' });
    add('a confirmation', true, confirm);
    add('a confirmation, second version', true, confirm, { version: '2' });
    add('the host of China', true, note, { cert: SNS_CERT.replace('us-west-2.amazonaws.com', 'cn-north-1.amazonaws.com.cn') });
    add('the message changed', false, note, { after: { Message: 'Hello!' } });
    add('the time changed', false, note, { after: { Timestamp: '2026-01-02T00:00:00.000Z' } });
    add('a subject added', false, { ...note, Subject: undefined }, { after: { Subject: 'x' } });
    add('the URL of the confirmation changed', false, confirm, { after: { SubscribeURL: 'https://sns.us-west-2.amazonaws.com/?x' } });
    add('signed with another key', false, note, { key: 'rsa-other' });
    add('a version nobody knows', false, note, { version: '3' });
    add('the second version signed like the first', false, note, { version: '2', signVersion: '1' });
    add('a certificate of another host', false, note, { cert: 'https://sns.us-west-2.example.com/a.pem' });
    add('a host that only begins alike', false, note, { cert: 'https://sns.us-west-2.amazonaws.com.example.com/a.pem' });
    add('a host behind a user', false, note, { cert: 'https://sns.us-west-2.amazonaws.com@example.com/a.pem' });
    add('a bucket instead of the service', false, note, { cert: 'https://s3.amazonaws.com/bucket/a.pem' });
    add('a certificate without TLS', false, note, { cert: SNS_CERT.replace('https', 'http') });
    add('a certificate that is no pem', false, note, { cert: SNS_CERT.replace('.pem', '.txt') });
    add('no signature', false, note, { after: { Signature: undefined } });
    add('no certificate named', false, note, { after: { SigningCertURL: undefined } });
    add('a confirmation without its token', false, { ...confirm, Token: undefined });
    add('a body that is no JSON', false, note, { body: 'hello' });
    add('an empty body', false, note, { body: '' });
    return out;
  },
};

// Judged by the Python library, with the certificate handed to it and its chain taken as good.
const paypal = {
  provider: 'paypal', url, secret: '', config: { webhookId: '0EH40505U7160970P', certificate: pem('rsa.cert') },
  cases() {
    const out = [];
    const body = '{"id":"WH-2WR32451HC0233532-67976317FL4543714","event_type":"PAYMENT.SALE.COMPLETED","resource":{"amount":{"total":"0.48"}}}';
    const crc = (bytes) => { let c = ~0; for (const b of bytes) { c ^= b; for (let i = 0; i < 8; i += 1) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1; } return (~c) >>> 0; };
    const add = (story, want, o = {}) => {
      const id = '69cd13f0-d67a-11e5-baa3-778b53f4ae55';
      const time = '2026-01-01T00:00:00Z';
      const text = `${o.signId ?? id}|${time}|${o.webhook ?? '0EH40505U7160970P'}|${crc(Buffer.from(o.signBody ?? o.body ?? body))}`;
      const headers = {
        'Content-Type': 'application/json', 'PAYPAL-TRANSMISSION-ID': id, 'PAYPAL-TRANSMISSION-TIME': time, 'PAYPAL-CERT-URL': 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-a5cafa77',
        'PAYPAL-AUTH-ALGO': 'SHA256withRSA', 'PAYPAL-TRANSMISSION-SIG': crypto.sign('sha256', Buffer.from(text), key(o.key ?? 'rsa')).toString('base64'), ...o.headers,
      };
      for (const n of Object.keys(headers)) if (headers[n] === undefined) delete headers[n];
      out.push(vector(this, { headers, body: o.body ?? body }, story, want));
    };
    add(FIRST, true);
    add('a body beyond ASCII', true, { body: '{"note":"Zoë 🚢"}' });
    add('a body that is not compact', true, { body: '{ "a" : 1 }\n' });
    add('the body changed by one character', false, { signBody: body.replace('0.48', '0.49') });
    add('signed for another webhook', false, { webhook: 'other' });
    add('signed with another key', false, { key: 'rsa-other' });
    add('another transmission', false, { signId: 'other' });
    add('the time changed after signing', false, { headers: { 'PAYPAL-TRANSMISSION-TIME': '2026-01-01T00:00:01Z' } });
    add('no signature header', false, { headers: { 'PAYPAL-TRANSMISSION-SIG': undefined } });
    add('no transmission header', false, { headers: { 'PAYPAL-TRANSMISSION-ID': undefined } });
    add('a signature header of rubbish', false, { headers: { 'PAYPAL-TRANSMISSION-SIG': 'nonsense' } });
    return out;
  },
};

export default [
  sendgrid,
  ed('discord', 'discord-interactions', {
    secret: raw25519('ed25519').toString('hex'), separator: '', encoding: 'hex', binary: true,
    signature: 'X-Signature-Ed25519', needs: ['X-Signature-Timestamp'],
    headers: ({ signatures, at }) => ({ 'X-Signature-Timestamp': `${at}`, 'X-Signature-Ed25519': signatures[0] }),
    judge: (r) => {
      const [signature, time] = [r.headers['x-signature-ed25519'], r.headers['x-signature-timestamp']];
      return !!signature && !!time && discord.verifyKey(r.raw, signature, time, r.secret);
    },
  }),
  ed('telnyx', 'telnyx', {
    secret: raw25519('ed25519').toString('base64'), separator: '|', encoding: 'base64', json: true, tolerance: 300, ahead: 300,
    signature: 'telnyx-signature-ed25519', needs: ['telnyx-timestamp'],
    headers: ({ signatures, at }) => ({ 'telnyx-timestamp': `${at}`, 'telnyx-signature-ed25519': signatures[0] }),
    judge: (r) => new Telnyx({ apiKey: 'k', publicKey: r.secret }).webhooks.unwrap(r.body, { headers: r.headers }),
  }),
  sns,
  paypal,
];
