// node client-v2.mjs '{"command", "args", "tool", "arguments", "mode"}': with the TypeScript SDK v2, in either era.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { walk } from './walk.mjs';

const { command, args, mode, ...call } = JSON.parse(process.argv[2]);
const client = new Client({ name: 'typescript-v2', version: '1' }, { versionNegotiation: { mode } });
await walk(client, new StdioClientTransport({ command, args }), call);
