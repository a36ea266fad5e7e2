// Writes crates/ferryhook-core/tests/cloud_events.json: what the libraries of CloudEvents, in
// JavaScript and Python, take for the attributes of requests. See README.md.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { CloudEvent, HTTP } from 'cloudevents';
import { versionOf } from './engine.js';

const here = new URL('.', import.meta.url);
const cases = [];
const add = (note, headers, body = '', decided) => cases.push({ note, headers, body, decided });

const binary = { 'ce-id': 'A234-1234-1234', 'ce-source': '/mycontext/4', 'ce-specversion': '1.0', 'ce-type': 'com.example.someevent' };
const event = { specversion: '1.0', id: 'A234-1234-1234', source: '/mycontext', type: 'com.example.someevent', data: { a: 1 } };
const structured = { 'content-type': 'application/cloudevents+json' };
const json = { 'content-type': 'application/json' };

// What the JavaScript library writes.
for (const extra of [{}, { subject: '123' }, { time: '2026-01-01T00:00:00.000Z' }, { comexampleextension: 'value' }, { data: 'text', datacontenttype: 'text/plain' }]) {
  for (const form of ['binary', 'structured']) {
    const message = HTTP[form](new CloudEvent({ ...event, time: '2025-12-31T00:00:00.000Z', ...extra }));
    add(`${form}, as the library writes it: ${Object.keys(extra)}`, message.headers, message.body ?? '');
  }
}
add('binary, names in other letters', { 'CE-Id': '1', 'Ce-Source': '/s', 'CE-SPECVERSION': '1.0', 'cE-tYPE': 't', 'Content-Type': 'application/json' }, '{}');
add('binary, no type of content', binary, '{"id":"inner","source":"inner","type":"inner"}');
add('binary, the data has an id as well', { ...binary, ...json }, '{"id":"inner","source":"inner","type":"inner"}');
add('binary, the earlier version', { ...binary, 'ce-specversion': '0.3', ...json }, '{}');
add('binary, no data', binary);
for (const name of Object.keys(binary)) {
  const rest = { ...binary, ...json };
  delete rest[name];
  // One library takes the version for granted.
  add(`binary without ${name}`, rest, '{}', null);
}
add('structured', structured, JSON.stringify(event));
const plainly = { id: event.id, source: event.source, type: event.type };
add('structured, with parameters', { 'Content-Type': 'application/cloudevents+json; charset=UTF-8' }, JSON.stringify(event), plainly);
add('structured, with the headers of another', { ...binary, ...structured, 'ce-id': 'other' }, JSON.stringify(event), plainly);
add('structured, attributes behind the data', structured, '{"data":{"id":"inner","type":"inner"},"type":"t","source":"/s","id":"i","specversion":"1.0"}');
add('structured, beyond ASCII', structured, JSON.stringify({ ...event, id: 'Zoë', source: 'urn:価格', type: 'com.exämple' }));
add('structured, escapes in JSON', structured, '{"specversion":"1.0","id":"a\\u00e9\\"b","source":"/s","type":"t"}');
add('structured, percent signs stay', structured, JSON.stringify({ ...event, id: 'a%20b' }));
for (const name of ['id', 'source', 'type']) {
  const rest = { ...event };
  delete rest[name];
  // The libraries invent an id where there is none; then nothing tells copies.
  add(`structured without ${name}`, structured, JSON.stringify(rest), null);
}
add('structured, not JSON', structured, 'hello', null);
add('an ordinary request', json, JSON.stringify(event), null);
add('an ordinary form', { 'content-type': 'application/x-www-form-urlencoded' }, 'id=1&source=s&type=t');
// The first two are from the specification.
const escaped = { 'Euro%20%E2%82%AC%20%F0%9F%98%80': 'Euro € 😀', '%22a%22': '"a"', '100%25': '100%', '%2525': '%25', 'a%20b': 'a b', 'plain/~!#$&()*+,;=?@[]': 'plain/~!#$&()*+,;=?@[]' };
for (const [written, read] of Object.entries(escaped)) {
  add(`binary, ${written}`, { ...binary, ...json, 'ce-id': written, 'ce-type': written }, '{}', { id: read, source: '/mycontext/4', type: read });
}
add('binary, quoted', { ...binary, ...json, 'ce-id': '"a%20\\"b"' }, '{}', { id: 'a "b', source: '/mycontext/4', type: 'com.example.someevent' });
add('binary, no UTF-8', { ...binary, ...json, 'ce-id': '%C0%A0' }, '{}', null);

const name = versionOf('cloudevents');
const read = (one) => {
  try {
    const found = HTTP.toEvent({ headers: { ...one.headers }, body: one.body });
    return { id: found.id, source: found.source, type: found.type };
  } catch {
    return null;
  }
};
const python = spawnSync(new URL('.venv/bin/python', here).pathname, [new URL('cloudevents_judge.py', here).pathname], { input: JSON.stringify(cases), encoding: 'utf8' });
if (python.status !== 0) throw new Error(python.stderr);
const { by, found } = JSON.parse(python.stdout);

const lines = cases.map((one, index) => {
  const said = [[name, read(one)], [by, found[index]]];
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const agree = same(said[0][1], said[1][1]);
  const attributes = agree ? said[0][1] : one.decided;
  if (attributes === undefined) throw new Error(`${one.note}: ${JSON.stringify(said)}`);
  const tier = agree && (one.decided === undefined || same(one.decided, attributes)) ? 'plain' : 'edge';
  const decided = tier === 'plain' ? attributes : one.decided;
  const note = tier === 'plain' ? one.note : `${one.note} (${said.map(([who, what]) => `${who}: ${JSON.stringify(what)?.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'an id of its own')}`).join('; ')})`;
  return JSON.stringify({ headers: one.headers, body: one.body, attributes: decided, by: `${name}, ${by}`, tier, note });
});
writeFileSync(new URL('../../crates/ferryhook-core/tests/cloud_events.json', here), `[\n${lines.join(',\n')}\n]\n`);
const edge = lines.filter((line) => line.includes('"tier":"edge"'));
for (const line of edge) process.stdout.write(`${JSON.parse(line).note}\n`);
process.stdout.write(`${lines.length} CloudEvents, ${edge.length} edge\n`);
