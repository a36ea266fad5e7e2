// The fields of a form or a query.
{
  const read = (text) => {
    try {
      return decodeURIComponent(text.replaceAll('+', ' '));
    } catch {
      return text;
    }
  };
  const write = (text) => encodeURIComponent(text).replaceAll('%20', '+').replace(/[!'()~]/g, (one) => '%' + one.charCodeAt(0).toString(16).toUpperCase());
  globalThis.URLSearchParams = class URLSearchParams {
    #pairs = [];
    constructor(from = '') {
      if (typeof from === 'object' && from !== null) {
        const pairs = typeof from[Symbol.iterator] === 'function' ? from : Object.entries(from);
        for (const [name, value] of pairs) this.append(name, value);
        return;
      }
      from = `${from}`;
      for (const pair of (from.startsWith('?') ? from.slice(1) : from).split('&')) {
        if (pair === '') continue;
        const at = pair.indexOf('=');
        this.#pairs.push(at < 0 ? [read(pair), ''] : [read(pair.slice(0, at)), read(pair.slice(at + 1))]);
      }
    }
    append(name, value) { this.#pairs.push([`${name}`, `${value}`]); }
    delete(name) { this.#pairs = this.#pairs.filter(([own]) => own !== `${name}`); }
    get(name) { return this.#pairs.find(([own]) => own === `${name}`)?.[1] ?? null; }
    getAll(name) { return this.#pairs.filter(([own]) => own === `${name}`).map(([, value]) => value); }
    has(name) { return this.#pairs.some(([own]) => own === `${name}`); }
    set(name, value) {
      const at = this.#pairs.findIndex(([own]) => own === `${name}`);
      if (at < 0) return this.append(name, value);
      this.#pairs = this.#pairs.filter(([own], place) => own !== `${name}` || place === at);
      this.#pairs[this.#pairs.findIndex(([own]) => own === `${name}`)][1] = `${value}`;
    }
    sort() { this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)); }
    forEach(each, self) { for (const [name, value] of this.#pairs) each.call(self, value, name, this); }
    keys() { return this.#pairs.map(([name]) => name).values(); }
    values() { return this.#pairs.map(([, value]) => value).values(); }
    entries() { return this.#pairs.map(([name, value]) => [name, value]).values(); }
    [Symbol.iterator]() { return this.entries(); }
    get size() { return this.#pairs.length; }
    toString() { return this.#pairs.map(([name, value]) => `${write(name)}=${write(value)}`).join('&'); }
  };
}
