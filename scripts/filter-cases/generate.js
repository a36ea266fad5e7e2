// Makes crates/ferryhook-core/tests/data/filter/cases.jsonl: shapes and inputs, with the verdicts of
// the npm package simple-json-match. Always the same file; run `npm install && npm run generate`.
//
// The first line is the list of inputs. Every other line is
//   [shape, [numbers of inputs], "verdicts of the package"]
// and, where ours differ deliberately,
//   [shape, [numbers of inputs], "verdicts of the package", "our verdicts", ["reasons"]].
// The reasons are those of docs/filters.md. They are found in the shape, not in the verdicts: a
// difference without a reason ends this script.
'use strict';

const fs = require('fs');
const path = require('path');
const oracle = require('simple-json-match').default;
const { matches, isObject, isSingle, isOperator } = require('./model.js');

const SHAPES = 2400;
// Inputs come in families whose members are almost the same, so that shapes hold for some of them.
const FAMILIES = 32;
const FAMILY = 6;
const OUT = path.join(__dirname, '../../crates/ferryhook-core/tests/data/filter/cases.jsonl');

// mulberry32
let state = 20260401;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);
const chance = (p) => random() < p;
const pick = (list) => list[below(list.length)];
const times = (n, make) => Array.from({ length: n }, make);

const NAMES = ['a', 'b', 'c', 'type', 'items', 'tags', 'meta', 'größe'];
const SINGLES = [
  0, 1, 2, 5, 10, 100, -1, 1.5, 0.1, 1e21, null, true, false,
  '', ' ', '0', '1', '5', '05', ' 5 ', '5.0', '1e2', '10', '9', '100', '-1', '.5', '0x10', 'Infinity', 'true', 'null',
  'a', 'b', 'ab', 'abc', 'abcabc', 'order.paid', 'order.sent', 'Order.paid', 'ä', 'zażółć', '😀', '\uffee', 'a\nb', '"', '[1]',
];

function anyValue(depth) {
  const roll = random();
  if (depth === 0 || roll < 0.5) return pick(SINGLES);
  if (roll < 0.72) return anyObject(depth - 1);
  if (roll < 0.82) return times(below(4), () => anyObject(depth - 1));
  return times(below(4), () => (chance(0.85) ? pick(SINGLES) : anyValue(depth - 1)));
}

function anyObject(depth) {
  return Object.fromEntries(times(1 + below(4), () => [pick(NAMES), anyValue(depth)]));
}

// The same with one thing changed.
function changed(value) {
  if (isSingle(value) || chance(0.15)) return chance(0.5) ? near(value) : anyValue(1);
  if (Array.isArray(value)) {
    if (value.length === 0 || chance(0.3)) return [...value, pick(SINGLES)];
    const at = below(value.length);
    return chance(0.3) ? value.filter((_, i) => i !== at) : value.map((item, i) => (i === at ? changed(item) : item));
  }
  if (Object.keys(value).length === 0) return { a: pick(SINGLES) };
  const name = pick(Object.keys(value));
  const { [name]: old, ...rest } = value;
  return chance(0.15) ? rest : { ...value, [name]: changed(old) };
}

// Like the value, or not quite.
function near(value) {
  if (chance(0.7)) return value;
  if (typeof value === 'number') return pick([value + 1, value - 1, String(value), value === 1, ` ${value}`]);
  if (typeof value === 'string') {
    return pick([characters(value, 0, 2), characters(value, -2), `${value}x`, value.toUpperCase(), Number.isFinite(Number(value)) ? Number(value) : 0]);
  }
  if (typeof value === 'boolean') return pick([!value, Number(value), String(value)]);
  return pick(SINGLES);
}

const numberOrText = (value) => (['number', 'string'].includes(typeof value) ? value : pick([1, 'a']));
const characters = (value, ...range) => Array.from(value).slice(...range).join('');
const text = (value) => (typeof value === 'string' ? value : 'a');

const FOR_ALL = ['$eq', '$eq', '$neq', '$in', '$nin', '$exist'];
const FOR_NUMBERS = [...FOR_ALL, '$gt', '$gte', '$lt', '$lte', '$gte', '$lte'];
const FOR_TEXT = [...FOR_NUMBERS, '$startsWith', '$startsWith', '$endsWith', '$endsWith', '$in'];
const EVERY = FOR_TEXT;

function anyOperator(value) {
  if (chance(0.06)) return ['$ref', anyReference()];
  const name = pick(chance(0.2) ? EVERY : typeof value === 'string' ? FOR_TEXT : typeof value === 'number' ? FOR_NUMBERS : FOR_ALL);
  if (name !== '$exist' && chance(0.05)) return [name, { $ref: anyReference() }];
  switch (name) {
    case '$exist': return [name, chance(0.7)];
    case '$eq': case '$neq': return [name, isSingle(value) ? near(value) : pick([value, near(null)])];
    case '$in': case '$nin': {
      const list = times(1 + below(3), () => numberOrText(chance(0.6) ? value : pick(SINGLES)));
      return [name, chance(0.6) ? list : numberOrText(near(value))];
    }
    case '$startsWith': return [name, chance(0.7) ? characters(text(value), 0, below(4)) : [pick(['a', 'order']), text(near(value))]];
    case '$endsWith': return [name, chance(0.7) ? characters(text(value), -1 - below(3)) : [pick(['b', 'paid']), text(near(value))]];
    default: return [name, numberOrText(near(value))];
  }
}

function anyReference() {
  const steps = times(1 + below(2), () => pick(['a', 'b', 'c', 'type', 'meta']));
  if (chance(0.3)) return `${pick(['items', 'tags', 'a'])}[${chance(0.7) ? '$index' : below(2)}]${chance(0.6) ? `.${steps[0]}` : ''}`;
  return steps.join('.');
}

function shapeOf(value, depth) {
  if (depth === 0 || isSingle(value)) return shapeOfSingle(value, depth);
  if (Array.isArray(value)) {
    const item = value.length > 0 ? pick(value) : pick(SINGLES);
    const roll = random();
    if (roll < 0.3) return shapeOf(item, depth - 1);
    if (roll < 0.55) return times(1 + below(2), () => shapeOf(value.length > 0 ? pick(value) : 1, depth - 1));
    if (roll < 0.7) return Object.fromEntries([anyOperator(value)]);
    return isObject(item) ? shapeOfObject(item, depth - 1) : { $or: [near(pick(SINGLES)), shapeOf(item, depth - 1)] };
  }
  return chance(0.05) ? Object.fromEntries([anyOperator(value)]) : shapeOfObject(value, depth);
}

function shapeOfSingle(value, depth) {
  const single = isSingle(value) ? value : pick(SINGLES);
  const roll = random();
  if (roll < 0.4) return near(single);
  if (roll < 0.78) return Object.fromEntries([anyOperator(value)]);
  if (roll < 0.84) return Object.fromEntries([anyOperator(value), anyOperator(value)]);
  if (roll < 0.92) return { $or: times(1 + below(3), () => (chance(0.5) ? near(single) : Object.fromEntries([anyOperator(value)]))) };
  if (roll < 0.95 || depth === 0) return { $and: times(1 + below(2), () => Object.fromEntries([anyOperator(value)])) };
  if (roll < 0.98) return { $not: shapeOfSingle(value, depth - 1) };
  return pick([{}, [], [single], { a: single }]);
}

function shapeOfObject(value, depth) {
  const names = Object.keys(value);
  const shape = {};
  for (let i = chance(0.4) ? below(3) : 0; i >= 0; i--) {
    const name = names.length > 0 && chance(0.93) ? pick(names) : pick(NAMES);
    shape[name] = chance(0.06) ? { $exist: chance(0.5) } : shapeOf(value[name] ?? pick(SINGLES), depth - 1);
  }
  if (depth > 0 && chance(0.1)) shape.$or = times(1 + below(3), () => shapeOf(value, depth - 1));
  if (depth > 0 && chance(0.06)) shape.$and = times(1 + below(2), () => shapeOf(value, depth - 1));
  if (depth > 0 && chance(0.1)) shape.$not = shapeOf(value, depth - 1);
  if (chance(0.02)) Object.assign(shape, Object.fromEntries([anyOperator(value)]));
  return shape;
}

// Why our verdict on a shape may differ.
function reasons(shape, isCondition, found) {
  if (Array.isArray(shape)) {
    found.add('lists');
    shape.forEach((one) => reasons(one, false, found));
  } else if (shape === null && isCondition) {
    found.add('everywhere');
  } else if (isObject(shape)) {
    const names = Object.keys(shape);
    const is = (name) => names.includes(name);
    const checks = names.filter(isOperator);
    // At the top, and in conditions on objects, everything beside each other counts there as well.
    if (names.length > 1 && (is('$or') || is('$ref') || (checks.length > 0 && checks.length < names.length))) found.add('siblings');
    if (is('$and') || is('$not')) found.add('everywhere');
    if (isCondition && (checks.length > 0 || is('$ref'))) found.add('everywhere');
    if (is('$ref')) found.add('references');
    for (const [name, inner] of Object.entries(shape)) {
      if (name === '$or' || name === '$and') inner.forEach((one) => reasons(one, true, found));
      else if (name === '$not') reasons(inner, true, found);
      else if (isOperator(name)) {
        if (isObject(inner) && inner.$ref) found.add('references');
        if (name === '$eq' || name === '$neq') found.add('deep');
      } else if (name !== '$ref') reasons(inner, false, found);
    }
  }
  return found;
}

const inputs = times(FAMILIES, () => {
  const family = [chance(0.9) ? anyObject(3) : anyValue(3)];
  while (family.length < FAMILY) family.push(changed(pick(family)));
  return family;
}).flat();
const lines = [JSON.stringify(inputs)];
const seen = new Set();
const counts = { cases: 0, held: 0, different: 0 };
while (lines.length <= SHAPES) {
  const first = below(inputs.length);
  const shape = shapeOf(inputs[first], 3);
  const written = JSON.stringify(shape);
  if (seen.has(written) || written.length > 400) continue;
  seen.add(written);
  const start = first - (first % FAMILY);
  const numbers = [...times(FAMILY, (_, i) => start + i), (start + FAMILY + below(FAMILY)) % inputs.length];
  const theirs = numbers.map((n) => Boolean(oracle(inputs[n], shape)));
  const ours = numbers.map((n) => matches(inputs[n], shape));
  const verdicts = (list) => list.map(Number).join('');
  const line = [shape, numbers, verdicts(theirs)];
  counts.cases += numbers.length;
  counts.held += theirs.filter(Boolean).length;
  if (line[2] !== verdicts(ours)) {
    const why = [...reasons(shape, true, new Set())].sort();
    if (why.length === 0) throw new Error(`no reason to differ: ${written} on ${JSON.stringify(inputs[numbers[[...line[2]].findIndex((v, i) => Number(v) !== Number(ours[i]))]])}`);
    line.push(verdicts(ours), why);
    counts.different += numbers.filter((_, i) => theirs[i] !== ours[i]).length;
    for (const one of why) counts[one] = (counts[one] || 0) + 1;
  }
  lines.push(JSON.stringify(line));
}
fs.writeFileSync(OUT, `${lines.join('\n')}\n`);
console.log(counts);
