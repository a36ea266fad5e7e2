// Writes crates/ferryhook-core/tests/vectors/*.json: requests that the providers' own libraries
// judged. See README.md.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { FIRST, headerCases, judged } from './engine.js';

console.log = console.info = console.warn = console.debug = console.error = () => {};
const say = (line) => process.stdout.write(`${line}\n`);

const here = new URL('.', import.meta.url);
const target = new URL('../../crates/ferryhook-core/tests/vectors/', here);
const only = process.argv[2];

const specs = [];
for (const file of readdirSync(new URL('providers/', here)).sort()) {
  specs.push(...(await import(`./providers/${file}`)).default);
}

const all = [];
for (const spec of specs) {
  if (only && spec.provider !== only) continue;
  for (const one of spec.cases ? spec.cases() : headerCases(spec)) {
    const verdict = await judged(spec, one);
    all.push({ spec, one, verdicts: verdict === undefined ? [] : [[spec.by, verdict]] });
  }
}

// The Python libraries have their say about the same requests.
const asked = all.map(({ one }) => ({ ...one, body: undefined, bodyBase64: one.body.toString('base64') }));
const python = spawnSync(new URL('.venv/bin/python', here).pathname, [new URL('judge.py', here).pathname], {
  input: JSON.stringify(asked), maxBuffer: 1 << 28, encoding: 'utf8',
});
if (python.status !== 0) {
  say(python.stderr);
  process.exit(1);
}
for (const [index, name, verdict, problem] of JSON.parse(python.stdout)) {
  all[index].verdicts.push([name, verdict]);
  if (problem) all[index].one.problem = `${all[index].one.problem ?? ''} ${problem}`;
}

const files = new Map();
const notes = [];
for (const { spec, one, verdicts } of all) {
  const { want } = one;
  if (verdicts.length === 0) continue;
  const agree = verdicts.every(([, verdict]) => verdict === verdicts[0][1]);
  const asWanted = want === undefined || verdicts.every(([, verdict]) => verdict === want);
  if (one.note === FIRST && !(agree && verdicts[0][1])) {
    say(`${one.provider} was asked wrongly: ${JSON.stringify(verdicts)} ${one.problem ?? ''}`);
    process.exitCode = 1;
  }
  const plain = agree && asWanted;
  const differ = plain ? '' : [one.edge, ...verdicts.map(([by, v]) => `${by}: ${v ? 'valid' : 'not valid'}`)].filter(Boolean).join('; ');
  if (!plain) notes.push(`${one.provider}: ${one.note} [want ${want}] ${differ}`);
  const body = one.body.toString('utf8');
  const readable = Buffer.from(body, 'utf8').equals(one.body);
  const line = {
    provider: one.provider, method: one.method, url: one.url, headers: one.headers,
    ...(readable ? { body } : { bodyBase64: one.body.toString('base64') }),
    secret: one.secret, previousSecrets: one.previousSecrets, now: one.now, config: one.config,
    valid: plain || want === undefined ? verdicts[0][1] : want,
    by: verdicts.map(([by]) => by).join(', '), tier: plain ? 'plain' : 'edge',
    note: differ ? `${one.note} (${differ})` : one.note,
  };
  const name = spec.file ?? spec.provider;
  if (!files.has(name)) files.set(name, []);
  files.get(name).push(line);
}

mkdirSync(target, { recursive: true });
if (!only) for (const file of readdirSync(target)) rmSync(new URL(file, target));
let plain = 0, edge = 0, positive = 0;
for (const [name, lines] of files) {
  writeFileSync(new URL(`${name}.json`, target), `[\n${lines.map((line) => JSON.stringify(line)).join(',\n')}\n]\n`);
  plain += lines.filter((line) => line.tier === 'plain').length;
  edge += lines.filter((line) => line.tier === 'edge').length;
  positive += lines.filter((line) => line.tier === 'plain' && line.valid).length;
}
for (const note of notes) say(note);
say(`${files.size} files, ${plain} plain (${positive} valid), ${edge} edge`);
process.exit(process.exitCode ?? 0);
