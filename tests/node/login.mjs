// node login.mjs '{"url", "sdk": "v1" | "v2", "mode"}': log in by OAuth as the TypeScript SDK does it, call a tool, and tell what
// was seen. The authorization server consents by itself: its redirect is read, not followed.
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { url, sdk, mode } = JSON.parse(process.argv[2]);

class Provider {
  redirectUrl = 'http://127.0.0.1:1/callback';
  clientMetadata = {
    client_name: 'typescript',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  clientInformation = () => this.client;
  saveClientInformation = (client) => (this.client = client);
  tokens = () => this.given;
  saveTokens = (given) => (this.given = given);
  saveCodeVerifier = (verifier) => (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  async redirectToAuthorization(address) {
    this.asked = address;
    const answer = await fetch(address, { redirect: 'manual' });
    this.answered = new URL(answer.headers.get('location')).searchParams;
  }
}

const provider = new Provider();
const connect = async () => {
  const transport =
    sdk === 'v1'
      ? new TransportV1(new URL(url), { authProvider: provider })
      : new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  const client =
    sdk === 'v1'
      ? new ClientV1({ name: 'typescript', version: '1' })
      : new Client({ name: 'typescript', version: '1' }, { versionNegotiation: { mode } });
  try {
    await client.connect(transport);
  } catch (error) {
    if (!provider.answered || provider.given) throw error;
    await transport.finishAuth(sdk === 'v1' ? provider.answered.get('code') : provider.answered);
    return connect();
  }
  return client;
};

const client = await connect();
const version = client.getNegotiatedProtocolVersion?.();
const result = await client.callTool({ name: 'small', arguments: { mark: 'x' } });
await client.close();
process.stdout.write(
  JSON.stringify({ version, result, scope: provider.asked.searchParams.get('scope'), resource: provider.asked.searchParams.get('resource') }),
);
