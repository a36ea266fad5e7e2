// Parts of what runs before a script, chosen by what the script names.
//
// The engine looks at the clock between its own instructions, not inside of its built-ins: one
// call of `[].reverse` on a list that claims four billion places would never come back. Those
// whose work can be far more than what they are given are replaced here by ones that say what
// they are about to cost (`pay`), or that loop in script, where the engine does look. What is
// replaced is reachable from nowhere else. What a script does not name is taken away instead.
//# core
const { apply, construct } = Reflect;
const { isArray } = Array;
const lists = Array.prototype;
const texts = String.prototype;
// The most that one call may cost, and how much is done between two looks at the clock.
const MOST = 2e8;
const CHUNK = 1e6;
let left = CHUNK;
const pay = (steps) => {
  if (!(steps <= MOST)) throw new RangeError('this call would take too long: its input is too large');
  left -= steps;
  if (left < 0) {
    left = CHUNK;
    tick();
  }
};
const list = (value) => {
  if (!isArray(value)) throw new TypeError('this method works on arrays only');
  pay(value.length * 50);
  return value;
};
// Also what a list is as text.
const join = lists.join;
lists.join = function () { return apply(join, list(this), arguments); };
delete lists.toLocaleString;
{
  // Those of iterators are not what scripts are promised, apart from `drop`.
  const iterators = Iterator.prototype;
  const { drop } = iterators;
  iterators.drop = function (count) {
    count = +count;
    pay(count < MOST ? count : MOST);
    return apply(drop, this, [count]);
  };
  delete iterators.includes;
  delete iterators.join;
  delete iterators.chunks;
  delete iterators.windows;
}
let kept;

//# text
const text = (value) => {
  if (value === null || value === undefined) throw new TypeError('cannot read text of ' + value);
  return `${value}`;
};
// What an object such as a RegExp does itself, or undefined.
const own = (value, symbol) => {
  if ((typeof value === 'object' && value !== null) || typeof value === 'function') {
    const method = value[symbol];
    if (method !== undefined && method !== null) return method;
  }
};
const seek = (native) => function (needle, from) {
  const hay = text(this);
  needle = `${needle}`;
  pay(hay.length * (needle.length || 1));
  return apply(native, hay, [needle, from]);
};
const substitute = (native, isAll) => function (needle, by) {
  const method = own(needle, Symbol.replace);
  if (method !== undefined) {
    const flags = isAll && own(needle, Symbol.match) !== undefined ? `${needle.flags}` : 'g';
    let isGlobal = false;
    for (let at = 0; at < flags.length; at++) isGlobal ||= flags[at] === 'g';
    if (!isGlobal) throw new TypeError('replaceAll needs a regular expression with the flag g');
    return apply(method, needle, [text(this), by]);
  }
  const hay = text(this);
  needle = `${needle}`;
  pay(hay.length * (needle.length || 1));
  return apply(native, hay, [needle, by]);
};
const recase = (native) => function () {
  const from = text(this);
  pay(from.length * 8);
  return apply(native, from, []);
};

const scan = (native) => function (...given) {
  const from = text(this);
  pay(from.length * 4);
  return apply(native, from, given);
};

//# find
// Many places, each of which may be a long text: those are looked at one by one.
const FEW = 65536;
const { trunc } = Math;
const find = (native, step) => function (wanted, from) {
  const length = isArray(this) ? this.length : FEW;
  if (typeof wanted !== 'string' || (isArray(this) && length * wanted.length <= CHUNK)) {
    pay(length < MOST ? length : MOST);
    return apply(native, this, arguments);
  }
  let at = arguments.length > 1 ? trunc(from) || 0 : step > 0 ? 0 : Infinity;
  const end = this.length;
  if (at < 0) at += end;
  if (step > 0 && at < 0) at = 0;
  if (step < 0 && at >= end) at = end - 1;
  for (; at >= 0 && at < end; at += step) {
    pay(wanted.length);
    if (this[at] === wanted) return at;
  }
  return -1;
};

//# order
const order = (a, b) => {
  a = `${a}`;
  b = `${b}`;
  pay(a.length < b.length ? a.length : b.length);
  return a < b ? -1 : a > b ? 1 : 0;
};

//# flatten
const flatten = (from, depth, into) => {
  for (let i = 0; i < from.length; i++) {
    if (!(i in from)) continue;
    const value = from[i];
    if (depth >= 1 && isArray(value)) flatten(value, depth - 1, into);
    else into[into.length] = value;
  }
  return into;
};

//# pattern
const PATTERN_MAX = 10000;
const pattern = (value) => {
  if (value === undefined) return value;
  value = `${value}`;
  if (value.length > PATTERN_MAX) throw new RangeError('a regular expression has at most ' + PATTERN_MAX + ' characters');
  return value;
};

//# match with
const match_with = (native, symbol) => function (wanted) {
  const method = own(wanted, symbol);
  if (method !== undefined) return apply(method, wanted, [text(this)]);
  return apply(native, text(this), [pattern(wanted)]);
};

//# fill
const fill = lists.fill;
lists.fill = function () { return apply(fill, list(this), arguments); };
//# copyWithin
const copyWithin = lists.copyWithin;
lists.copyWithin = function () { return apply(copyWithin, list(this), arguments); };
//# reverse
const reverse = lists.reverse;
lists.reverse = function () { return apply(reverse, list(this), arguments); };
//# shift
const shift = lists.shift;
lists.shift = function () { return apply(shift, list(this), arguments); };
//# unshift
const unshift = lists.unshift;
lists.unshift = function () { return apply(unshift, list(this), arguments); };
//# splice
const splice = lists.splice;
lists.splice = function () { return apply(splice, list(this), arguments); };
//# slice
const slice = lists.slice;
lists.slice = function (from, to) {
  let own = this;
  if (!isArray(own)) {
    // Such as arguments; one by one, because its length may be anything.
    own = [];
    for (let at = 0; at < this.length; at++) own[at] = this[at];
  }
  return apply(slice, list(own), [from, to]);
};
//# sort
const sort = lists.sort;
lists.sort = function (compare) { return apply(sort, list(this), [compare === undefined ? order : compare]); };
//# toSorted
const toSorted = lists.toSorted;
lists.toSorted = function (compare) { return apply(toSorted, list(this), [compare === undefined ? order : compare]); };
//# concat
lists.concat = function (...others) {
  const made = [];
  for (let at = -1; at < others.length; at++) {
    const other = at < 0 ? this : others[at];
    if (isArray(other)) flatten(other, 0, made);
    else made[made.length] = other;
  }
  return made;
};
//# flat
lists.flat = function (depth) { return flatten(list(this), depth === undefined ? 1 : +depth, []); };
//# flatMap
const map = lists.map;
lists.flatMap = function (each, self) { return flatten(apply(map, list(this), [each, self]), 1, []); };

//# includes
texts.includes = seek(texts.includes);
const place = find(lists.includes, 1);
lists.includes = function (wanted) {
  const found = apply(place, this, arguments);
  // A place if it was looked for here, and the answer itself if not.
  return typeof found === 'number' ? found >= 0 : found;
};
//# indexOf
texts.indexOf = seek(texts.indexOf);
lists.indexOf = find(lists.indexOf, 1);
//# lastIndexOf
texts.lastIndexOf = seek(texts.lastIndexOf);
lists.lastIndexOf = find(lists.lastIndexOf, -1);
//# startsWith
texts.startsWith = scan(texts.startsWith);
//# endsWith
texts.endsWith = scan(texts.endsWith);
//# isWellFormed
texts.isWellFormed = scan(texts.isWellFormed);
//# toWellFormed
texts.toWellFormed = scan(texts.toWellFormed);
//# trim
texts.trim = scan(texts.trim);
//# trimStart
texts.trimStart = scan(texts.trimStart);
//# trimEnd
texts.trimEnd = scan(texts.trimEnd);
//# trimLeft
texts.trimLeft = scan(texts.trimLeft);
//# trimRight
texts.trimRight = scan(texts.trimRight);
//# replace
texts.replace = substitute(texts.replace, false);
//# replaceAll
texts.replaceAll = substitute(texts.replaceAll, true);
//# match
texts.match = match_with(texts.match, Symbol.match);
//# matchAll
texts.matchAll = match_with(texts.matchAll, Symbol.matchAll);
//# search
texts.search = match_with(texts.search, Symbol.search);
//# toLowerCase
texts.toLowerCase = recase(texts.toLowerCase);
//# toUpperCase
texts.toUpperCase = recase(texts.toUpperCase);
//# toLocaleLowerCase
texts.toLocaleLowerCase = recase(texts.toLocaleLowerCase);
//# toLocaleUpperCase
texts.toLocaleUpperCase = recase(texts.toLocaleUpperCase);
//# split
const split = texts.split;
texts.split = function (by, limit) {
  const method = own(by, Symbol.split);
  if (method !== undefined) return apply(method, by, [text(this), limit]);
  const from = text(this);
  if (by !== undefined) {
    by = `${by}`;
    pay(from.length * (by.length || 1));
  }
  return apply(split, from, [by, limit]);
};
//# normalize
const normalize = texts.normalize;
texts.normalize = function (form) {
  const from = text(this);
  pay(from.length * from.length);
  return apply(normalize, from, form === undefined ? [] : [form]);
};
//# localeCompare
texts.localeCompare = function (other) { return order(text(this), other); };
//# raw
const raw = String.raw;
String.raw = function (parts, ...values) {
  const own = list(parts.raw);
  return apply(raw, String, [{ raw: own }, ...values]);
};

//# JSON
const { parse, stringify } = JSON;
JSON.parse = function (from, revive) {
  from = `${from}`;
  pay(from.length * 8);
  return apply(parse, JSON, [from, revive]);
};
JSON.stringify = function (value, only, space) {
  if (isArray(only)) list(only);
  const made = apply(stringify, JSON, [value, only, space]);
  if (typeof made === 'string') pay(made.length * 4);
  return made;
};

//# fromEntries
const { defineProperty } = Object;
Object.fromEntries = function (entries) {
  const made = {};
  for (const entry of entries) {
    if (typeof entry !== 'object' || entry === null) throw new TypeError('an entry is a list of a name and a value');
    defineProperty(made, entry[0], { __proto__: null, value: entry[1], writable: true, enumerable: true, configurable: true });
  }
  return made;
};

//# sets
{
  const sets = Set.prototype;
  const NativeSet = Set;
  const { get } = Object.getOwnPropertyDescriptor(sets, 'size');
  for (const name of ['union', 'intersection', 'difference', 'symmetricDifference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom']) {
    const native = sets[name];
    sets[name] = function (other) {
      pay(apply(get, this, []) * 10);
      // A copy has no methods of its own, and is as large as it says.
      return apply(native, this, [new NativeSet(other.keys())]);
    };
  }
}

//# regular expressions
const rules = RegExp.prototype;
const exec = rules.exec;
// Also takes the shortcuts of the engine away, which would not come by here.
rules.exec = function (from) {
  pay(500);
  return apply(exec, this, [from]);
};
delete rules.compile;

//# RegExp
const NativeRegExp = RegExp;
const source = Object.getOwnPropertyDescriptor(rules, 'source').get;
const flags = Object.getOwnPropertyDescriptor(rules, 'flags').get;
const GuardedRegExp = function RegExp(from, how) {
  if (typeof from === 'object' && from !== null) {
    // One that is what it seems to be says so itself; anything else is text.
    let isNative = from !== rules;
    try {
      const text = apply(source, from, []);
      if (isNative && how === undefined) how = apply(flags, from, []);
      from = text;
    } catch {
      isNative = false;
    }
    if (!isNative) from = `${from}`;
  }
  return construct(NativeRegExp, [pattern(from), how], new.target === undefined ? GuardedRegExp : new.target);
};
GuardedRegExp.prototype = rules;
Object.defineProperty(GuardedRegExp, Symbol.species, { get() { return this; } });
rules.constructor = GuardedRegExp;
globalThis.RegExp = GuardedRegExp;

//# typed arrays
// Numbers without an end, which JSON does not have, and threads.
delete globalThis.BigInt64Array;
delete globalThis.BigUint64Array;
delete globalThis.SharedArrayBuffer;
delete globalThis.Atomics;
delete DataView.prototype.getBigInt64;
delete DataView.prototype.getBigUint64;
delete ArrayBuffer.prototype.resize;
delete Uint8Array.prototype.setFromBase64;
delete Uint8Array.prototype.setFromHex;
{
  const typed = Object.getPrototypeOf(Uint8Array.prototype);
  const { get } = Object.getOwnPropertyDescriptor(typed, 'length');
  const methods = { fill: 1, copyWithin: 1, reverse: 1, includes: 2, indexOf: 2, lastIndexOf: 2, set: 4, join: 20, sort: 40, toSorted: 40 };
  for (const name in methods) {
    const native = typed[name];
    const cost = methods[name];
    typed[name] = function () {
      pay(apply(get, this, []) * cost);
      return apply(native, this, arguments);
    };
  }
  delete typed.toLocaleString;
}

//# addHandler
globalThis.addHandler = function addHandler(event, handler) {
  if (event !== 'transform') throw new TypeError('addHandler knows one event, "transform"');
  if (typeof handler !== 'function') throw new TypeError('addHandler needs a function');
  kept = handler;
};
