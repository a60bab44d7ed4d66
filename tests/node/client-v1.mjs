// node client-v1.mjs '{"command", "args", "tool", "arguments"}': with the TypeScript SDK v1.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { walk } from './walk.mjs';

const { command, args, ...call } = JSON.parse(process.argv[2]);
await walk(new Client({ name: 'typescript-v1', version: '1' }), new StdioClientTransport({ command, args }), call);
