// A provider of OpenID Connect for the tests: oidc-provider, with one client and everybody in it.
// usage: node provider.mjs FOLDER_OF_NODE_MODULES PORT REDIRECT_URI
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [modules, port, redirectUri] = process.argv.slice(2);
const entry = path.join(modules, 'oidc-provider', 'lib', 'index.js');
const { default: Provider } = await import(pathToFileURL(entry));

const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  clients: [{
    client_id: 'ferry',
    client_secret: 'ferry-secret',
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'client_secret_post',
  }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  // As Google does: the statement itself says who it is.
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  cookies: { keys: ['for-tests-only'] },
  features: { devInteractions: { enabled: true } },
  // Whoever signs in as NAME is NAME@example.com; those who begin with `unproven` are not verified.
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: `sub-${id}`,
      email: `${id}@example.com`,
      email_verified: !id.startsWith('unproven'),
      name: id,
    }),
  }),
});
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
