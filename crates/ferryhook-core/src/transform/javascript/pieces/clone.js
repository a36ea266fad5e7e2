// A deep copy. What cannot be copied is refused, as everywhere.
{
  const { isArray } = Array;
  const { keys } = Object;
  globalThis.structuredClone = function structuredClone(value) {
    const seen = new Map();
    const copy = (value) => {
      if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError('a ' + typeof value + ' cannot be cloned');
      if (typeof value !== 'object' || value === null) return value;
      if (seen.has(value)) return seen.get(value);
      let made;
      if (typeof Date === 'function' && value instanceof Date) made = new Date(value.getTime());
      else if (value instanceof Map) {
        seen.set(value, (made = new Map()));
        for (const [key, one] of value) made.set(copy(key), copy(one));
      } else if (value instanceof Set) {
        seen.set(value, (made = new Set()));
        for (const one of value) made.add(copy(one));
      } else if (value instanceof Error) {
        made = new Error(value.message);
        made.name = value.name;
      } else {
        seen.set(value, (made = isArray(value) ? [] : {}));
        for (const key of keys(value)) made[key] = copy(value[key]);
      }
      seen.set(value, made);
      return made;
    };
    return copy(value);
  };
}
