// Lines are kept, within bounds, and shown with the run.
{
  const { stringify } = JSON;
  const show = (value) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'function') return '[function]';
    if (typeof value !== 'object' || value === null) return String(value);
    try {
      return value instanceof Error ? `${value.name}: ${value.message}` : stringify(value);
    } catch {
      return '[object]';
    }
  };
  const write = (...values) => {
    let line = '';
    for (let at = 0; at < values.length; at++) line += (at > 0 ? ' ' : '') + show(values[at]);
    host.log(line);
  };
  globalThis.console = { log: write, info: write, warn: write, error: write, debug: write, trace: write };
}
