// node client-v2.mjs '{"command", "args" | "url", "tool", "arguments" | "mark", "mode"}': with the TypeScript SDK v2, in
// either era.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { visit } from './visit.mjs';
import { walk } from './walk.mjs';

const { command, args, url, mode, ...call } = JSON.parse(process.argv[2]);
const client = new Client({ name: 'typescript-v2', version: '1' }, { versionNegotiation: { mode } });
const transport = url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args });
await (call.mark ? visit : walk)(client, transport, call);
