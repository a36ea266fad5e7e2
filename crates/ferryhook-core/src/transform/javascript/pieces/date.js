// Time stands still at the moment the event arrived, and the zone is UTC on every machine.
{
  const { now } = host;
  const Native = Date;
  const days = Native.prototype;
  const { construct, apply } = Reflect;
  const { parse, UTC } = Native;
  const { getTimezoneOffset, toUTCString, toISOString, getTime } = days;
  const { test } = rules;
  const ZONED = /(?:[zZ]|[+-]\d\d:?\d\d|\b(?:GMT|UTC|UT|[ECMP][SD]T)(?:[+-]\d+)?)(?:\s*\([^)]*\))?\s*$|^\s*[+-]?\d{4,6}(?:-\d\d){0,2}\s*$/;
  // A text without a zone was read in the zone of the machine.
  const read = (text) => {
    text = `${text}`;
    const at = parse(text);
    if (at !== at || text.length > 100 || apply(test, ZONED, [text])) return at;
    return at - apply(getTimezoneOffset, new Native(at), []) * 60000;
  };
  const value = (from) => {
    if (from.length === 0) return now;
    if (from.length > 1) return apply(UTC, Native, from);
    const [only] = from;
    if (typeof only === 'object' && only !== null) {
      try {
        return apply(getTime, only, []);
      } catch {}
      const primitive = only[Symbol.toPrimitive] ? only[Symbol.toPrimitive]('default') : only.valueOf();
      return typeof primitive === 'string' ? read(primitive) : typeof primitive === 'object' ? read(`${only}`) : +primitive;
    }
    return typeof only === 'string' ? read(only) : +only;
  };
  const Frozen = function Date(...from) {
    if (new.target === undefined) return new Frozen().toString();
    return construct(Native, [value(from)], new.target);
  };
  Frozen.prototype = days;
  Frozen.now = () => now;
  Frozen.parse = read;
  Frozen.UTC = UTC;
  days.constructor = Frozen;
  for (const part of ['Date', 'Day', 'FullYear', 'Hours', 'Milliseconds', 'Minutes', 'Month', 'Seconds']) {
    days['get' + part] = days['getUTC' + part];
    if (part !== 'Day') days['set' + part] = days['setUTC' + part];
  }
  days.getYear = function () { return this.getUTCFullYear() - 1900; };
  delete days.setYear;
  days.getTimezoneOffset = () => 0;
  const NAMES = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
  const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  const two = (number) => (number < 10 ? '0' : '') + number;
  const day = (at) => `${NAMES[at.getUTCDay()]} ${MONTHS[at.getUTCMonth()]} ${two(at.getUTCDate())} ${at.getUTCFullYear()}`;
  const time = (at) => `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
  const valid = (write) => function () { return this.getTime() !== this.getTime() ? 'Invalid Date' : write(this); };
  days.toDateString = valid(day);
  days.toTimeString = valid((at) => `${time(at)} GMT+0000 (UTC)`);
  days.toString = valid((at) => `${day(at)} ${time(at)} GMT+0000 (UTC)`);
  const us_day = (at) => `${at.getUTCMonth() + 1}/${at.getUTCDate()}/${at.getUTCFullYear()}`;
  const us_time = (at) => {
    const hour = at.getUTCHours();
    return `${hour % 12 || 12}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} ${hour < 12 ? 'AM' : 'PM'}`;
  };
  days.toLocaleDateString = valid(us_day);
  days.toLocaleTimeString = valid(us_time);
  days.toLocaleString = valid((at) => `${us_day(at)}, ${us_time(at)}`);
  globalThis.Date = Frozen;
}
