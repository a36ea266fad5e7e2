// Stripe's own library, asked over lines of JSON: it calls, it signs, it verifies.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(process.argv[2] + '/');
const Stripe = require('stripe');

const stripeAt = (url, key) => {
  const { hostname, port } = new URL(url);
  return new Stripe(key, { host: hostname, port, protocol: 'http', telemetry: false });
};

const tasks = {
  async call({ url, key, name, parameters }) {
    const stripe = stripeAt(url, key);
    const path = name.split('.');
    const method = path.pop();
    const resource = path.reduce((object, part) => object[part], stripe);
    const answer = await resource[method](parameters);
    return answer.id ?? answer.data?.length ?? null;
  },
  async sign({ payload, secret, timestamp }) {
    return new Stripe('sk_test').webhooks.generateTestHeaderString({ payload, secret, timestamp });
  },
  async verify({ payload, header, secret }) {
    return new Stripe('sk_test').webhooks.constructEvent(payload, header, secret).id;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { task, ...rest } = JSON.parse(line);
  let answer;
  try {
    answer = { done: await tasks[task](rest) };
  } catch (error) {
    answer = { failed: String(error) };
  }
  console.log(JSON.stringify(answer));
}
