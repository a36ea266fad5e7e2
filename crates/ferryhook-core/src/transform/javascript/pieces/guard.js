// Runs before anything else in every context.
//
// The engine looks at the clock between its own instructions, not inside of its built-ins: one
// call of `[].join` on a list that claims four billion places would never come back. Those whose
// work can be far more than what they are given are replaced here by ones that say what they are
// about to cost (`pay`), or that loop in script, where the engine does look. What is replaced is
// reachable from nowhere else.
(function (tick) {
  'use strict';
  const { apply, construct } = Reflect;
  const { isArray } = Array;
  const { parse, stringify } = JSON;
  const lists = Array.prototype;
  const texts = String.prototype;
  const { copyWithin, join, reverse, shift, sort, splice, toSorted, unshift } = lists;
  const { includes, indexOf, lastIndexOf, match, matchAll, normalize, replace, replaceAll, search, split, toLowerCase, toUpperCase } = texts;
  const { raw } = String;

  // The most that one call may cost, and how much is done between two looks at the clock.
  const MOST = 2e8;
  const CHUNK = 1e6;
  const PATTERN_MAX = 10000;
  let left = CHUNK;
  function pay(steps) {
    if (!(steps <= MOST)) throw new RangeError('this call would take too long: its input is too large');
    left -= steps;
    if (left < 0) {
      left = CHUNK;
      tick();
    }
  }

  function list(value) {
    if (!isArray(value)) throw new TypeError('this method works on arrays only');
    pay(value.length * 50);
    return value;
  }
  function text(value) {
    if (value === null || value === undefined) throw new TypeError('cannot read text of ' + value);
    return `${value}`;
  }
  function pattern(value) {
    if (value === undefined) return value;
    value = `${value}`;
    if (value.length > PATTERN_MAX) throw new RangeError('a regular expression has at most ' + PATTERN_MAX + ' characters');
    return value;
  }
  // What an object such as a RegExp does itself, or undefined.
  function own(value, symbol) {
    if ((typeof value === 'object' && value !== null) || typeof value === 'function') {
      const method = value[symbol];
      if (method !== undefined && method !== null) return method;
    }
  }
  function order(a, b) {
    a = `${a}`;
    b = `${b}`;
    pay(a.length < b.length ? a.length : b.length);
    return a < b ? -1 : a > b ? 1 : 0;
  }
  function flatten(from, depth, into) {
    for (let i = 0; i < from.length; i++) {
      if (!(i in from)) continue;
      const value = from[i];
      if (depth >= 1 && isArray(value)) flatten(value, depth - 1, into);
      else into[into.length] = value;
    }
    return into;
  }
  function put(into, methods) {
    for (const name in methods) into[name] = methods[name];
  }

  put(lists, {
    copyWithin() { return apply(copyWithin, list(this), arguments); },
    join() { return apply(join, list(this), arguments); },
    reverse() { return apply(reverse, list(this), arguments); },
    shift() { return apply(shift, list(this), arguments); },
    splice() { return apply(splice, list(this), arguments); },
    unshift() { return apply(unshift, list(this), arguments); },
    sort(compare) { return apply(sort, list(this), [compare === undefined ? order : compare]); },
    toSorted(compare) { return apply(toSorted, list(this), [compare === undefined ? order : compare]); },
    concat(...others) {
      const made = [];
      for (let at = -1; at < others.length; at++) {
        const other = at < 0 ? this : others[at];
        if (isArray(other)) flatten(other, 0, made);
        else made[made.length] = other;
      }
      return made;
    },
    flat(depth) { return flatten(list(this), depth === undefined ? 1 : +depth, []); },
    flatMap(each, self) { return flatten(list(this).map(each, self), 1, []); },
  });
  delete lists.toLocaleString;

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
      if (!apply(includes, flags, ['g'])) throw new TypeError('replaceAll needs a regular expression with the flag g');
      return apply(method, needle, [text(this), by]);
    }
    const hay = text(this);
    needle = `${needle}`;
    pay(hay.length * (needle.length || 1));
    return apply(native, hay, [needle, by]);
  };
  const match_with = (native, symbol) => function (wanted) {
    const method = own(wanted, symbol);
    if (method !== undefined) return apply(method, wanted, [text(this)]);
    return apply(native, text(this), [pattern(wanted)]);
  };
  const recase = (native) => function () {
    const from = text(this);
    pay(from.length * 8);
    return apply(native, from, []);
  };
  put(texts, {
    includes: seek(includes),
    indexOf: seek(indexOf),
    lastIndexOf: seek(lastIndexOf),
    replace: substitute(replace, false),
    replaceAll: substitute(replaceAll, true),
    match: match_with(match, Symbol.match),
    matchAll: match_with(matchAll, Symbol.matchAll),
    search: match_with(search, Symbol.search),
    toLowerCase: recase(toLowerCase),
    toUpperCase: recase(toUpperCase),
    toLocaleLowerCase: recase(toLowerCase),
    toLocaleUpperCase: recase(toUpperCase),
    split(by, limit) {
      const method = own(by, Symbol.split);
      if (method !== undefined) return apply(method, by, [text(this), limit]);
      const from = text(this);
      if (by !== undefined) {
        by = `${by}`;
        pay(from.length * (by.length || 1));
      }
      return apply(split, from, [by, limit]);
    },
    normalize(form) {
      const from = text(this);
      pay(from.length * from.length);
      return apply(normalize, from, form === undefined ? [] : [form]);
    },
    localeCompare(other) { return order(text(this), other); },
  });
  String.raw = function (parts, ...values) {
    const own = list(parts.raw);
    return apply(raw, String, [{ raw: own }, ...values]);
  };

  JSON.parse = function (from, revive) {
    from = `${from}`;
    pay(from.length * 8);
    return apply(parse, JSON, [from, revive]);
  };
  JSON.stringify = function () {
    const made = apply(stringify, JSON, arguments);
    if (typeof made === 'string') pay(made.length * 4);
    return made;
  };

  if (typeof RegExp === 'function') {
    const Native = RegExp;
    const rules = Native.prototype;
    const { exec } = rules;
    const source = Object.getOwnPropertyDescriptor(rules, 'source').get;
    const flags = Object.getOwnPropertyDescriptor(rules, 'flags').get;
    const Guarded = function RegExp(from, how) {
      if (typeof from === 'object' && from !== null) {
        // One that is what it seems to be says so itself; anything else is text.
        let is_native = from !== rules;
        try {
          const text = apply(source, from, []);
          if (is_native && how === undefined) how = apply(flags, from, []);
          from = text;
        } catch {
          is_native = false;
        }
        if (!is_native) from = `${from}`;
      }
      return construct(Native, [pattern(from), how], new.target === undefined ? Guarded : new.target);
    };
    Guarded.prototype = rules;
    Guarded.escape = Native.escape;
    Object.defineProperty(Guarded, Symbol.species, { get() { return this; } });
    rules.constructor = Guarded;
    // Also takes the shortcuts of the engine away, which would not come by here.
    rules.exec = function (from) {
      pay(500);
      return apply(exec, this, [from]);
    };
    delete rules.compile;
    globalThis.RegExp = Guarded;
  }

  // Another puts a repeatable one in its place, if the script asks for it.
  delete Math.random;
  // Numbers without an end, which JSON does not have, and threads.
  delete globalThis.BigInt;
  delete globalThis.BigInt64Array;
  delete globalThis.BigUint64Array;
  delete globalThis.SharedArrayBuffer;
  delete globalThis.Atomics;
  if (typeof DataView === 'function') {
    delete DataView.prototype.getBigInt64;
    delete DataView.prototype.getBigUint64;
  }

  let kept;
  globalThis.addHandler = function addHandler(event, handler) {
    if (event !== 'transform') throw new TypeError('addHandler knows one event, "transform"');
    if (typeof handler !== 'function') throw new TypeError('addHandler needs a function');
    kept = handler;
  };
  return { pay, kept: () => kept };
})
