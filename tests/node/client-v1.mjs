// node client-v1.mjs '{"command", "args" | "url" | "sse", "tool", "arguments" | "mark"}': with the TypeScript SDK v1.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { visit } from './visit.mjs';
import { walk } from './walk.mjs';

const { command, args, url, sse, ...call } = JSON.parse(process.argv[2]);
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url))
  : sse
    ? new SSEClientTransport(new URL(sse))
    : new StdioClientTransport({ command, args });
await (call.mark ? visit : walk)(new Client({ name: 'typescript-v1', version: '1' }), transport, call);
