// What the nested form means here, said a second time and in another language: the yardstick where
// it deliberately differs from simple-json-match. docs/filters.md says the same in words.
'use strict';

const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);
const isSingle = (v) => v === null || ['number', 'string', 'boolean'].includes(typeof v);
const isText = (v) => typeof v === 'string';
const isNumberOrText = (v) => typeof v === 'string' || typeof v === 'number';

function deepEqual(a, b) {
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((x, i) => deepEqual(x, b[i]));
  }
  if (isObject(a) || isObject(b)) {
    if (!isObject(a) || !isObject(b)) return false;
    const names = Object.keys(a);
    return names.length === Object.keys(b).length && names.every((n) => Object.hasOwn(b, n) && deepEqual(a[n], b[n]));
  }
  return a === b;
}

// Missing is like null, as it is in JavaScript.
const same = (v, w) => (isSingle(v) || v === undefined ? (isSingle(w) || w === undefined) && v == w : deepEqual(v, w));

// Undefined: cannot be asked.
function isIn(v, w) {
  if (!isSingle(v)) return undefined;
  if (Array.isArray(w)) return w.every(isNumberOrText) ? w.includes(v) : undefined;
  return isNumberOrText(w) && isText(v) ? v.includes(w) : undefined;
}

const affix = (v, w, has) =>
  isText(v) && (isText(w) ? has(w) : Array.isArray(w) && w.every(isText) && w.some(has));
const ordered = (v, w, holds) => isNumberOrText(v) && isNumberOrText(w) && holds(v, w);

const operators = {
  $eq: same,
  $neq: (v, w) => !same(v, w),
  $in: (v, w) => isIn(v, w) === true,
  $nin: (v, w) => isIn(v, w) === false,
  $startsWith: (v, w) => affix(v, w, (one) => v.startsWith(one)),
  $endsWith: (v, w) => affix(v, w, (one) => v.endsWith(one)),
  $gt: (v, w) => ordered(v, w, (a, b) => a > b),
  $gte: (v, w) => ordered(v, w, (a, b) => a >= b),
  $lt: (v, w) => ordered(v, w, (a, b) => a < b),
  $lte: (v, w) => ordered(v, w, (a, b) => a <= b),
  $exist: (v, w) => (v !== undefined) === w,
};
const isOperator = (name) => Object.hasOwn(operators, name);

// Only the simple references that the generator makes: names, numbers and $index.
function resolve(reference, walk) {
  let value = walk.root;
  let index = 0;
  for (const step of reference.match(/[^.[\]]+/g)) {
    const key = step === '$index' ? walk.indexes[index++] : step;
    value = value !== null && typeof value === 'object' && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value === undefined ? null : value;
}

function is(v, wanted) {
  if (Array.isArray(v)) return v.some((item) => is(item, wanted));
  return isSingle(v) && v == wanted;
}

const isReference = (v) => isObject(v) && Object.keys(v).length === 1 && isText(v.$ref);

function passes(name, v, operand, walk) {
  return operators[name](v, isReference(operand) ? resolve(operand.$ref, walk) : operand);
}

function oneOf(list, walk, willDo) {
  return list.some((item, i) => willDo(item, { root: walk.root, indexes: [...walk.indexes, i] }));
}

function meets([name, inner], v, walk) {
  if (name === '$or') return inner.some((one) => has(v, one, walk));
  if (name === '$and') return inner.every((one) => has(v, one, walk));
  if (name === '$not') return !has(v, inner, walk);
  if (name === '$ref') {
    const wanted = resolve(inner, walk);
    if (v === undefined) return false;
    return isSingle(wanted) ? is(v, wanted) : deepEqual(v, wanted);
  }
  if (isOperator(name)) return passes(name, v, inner, walk);
  if (!isObject(v)) return false;
  const field = Object.hasOwn(v, name) ? v[name] : undefined;
  if (field === undefined && !(isObject(inner) && inner.$exist === false)) return false;
  return has(field, inner, walk);
}

function has(v, shape, walk) {
  if (isSingle(shape)) return is(v, shape);
  if (Array.isArray(shape)) {
    return Array.isArray(v) && shape.every((one) => oneOf(v, walk, (item, inside) => has(item, one, inside)));
  }
  const conditions = Object.entries(shape);
  if (conditions.length === 1 && conditions[0][0] === '$not') return !has(v, shape.$not, walk);
  if (!Array.isArray(v)) {
    return (isObject(v) || conditions.length > 0) && conditions.every((one) => meets(one, v, walk));
  }
  const checks = conditions.filter(([name]) => isOperator(name));
  const rest = conditions.filter(([name]) => !isOperator(name));
  if (!checks.every((one) => meets(one, v, walk))) return false;
  if (checks.length > 0 && rest.length === 0) return true;
  return oneOf(v, walk, (item, inside) =>
    checks.length > 0 ? rest.every((one) => meets(one, item, inside)) : has(item, shape, inside),
  );
}

const matches = (input, shape) => has(input, shape, { root: input, indexes: [] });

module.exports = { matches, isObject, isSingle, isOperator };
