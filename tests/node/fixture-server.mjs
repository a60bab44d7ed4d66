// The server that the conformance suite is run against, on npm's official SDK, in both eras:
// `node fixture-server.mjs --stdio`, or `--http PORT` for Streamable HTTP at /mcp.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import {
  classifyInboundRequest,
  createMcpHandler,
  isInitializeRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { build } from './fixture-features.mjs';

const RETRY_MILLISECONDS = 100;

/** Over a connection that lasts, the server itself tells of its changes. */
const byItself = (server) => ({
  toolsChanged: () => server.sendToolListChanged(),
  promptsChanged: () => server.sendPromptListChanged(),
});

/** What was sent on each stream, so that a client whose stream was cut can fetch the rest. */
class KeptEvents {
  #events = [];

  async storeEvent(stream, message) {
    this.#events.push({ stream, message });
    return String(this.#events.length);
  }

  async replayEventsAfter(last, { send }) {
    const { stream } = this.#events[Number(last) - 1];
    for (let at = Number(last); at < this.#events.length; at += 1) {
      const event = this.#events[at];
      if (event.stream === stream && event.message?.jsonrpc) await send(String(at + 1), event.message);
    }
    return stream;
  }
}

/** Sessions of clients that shake hands. */
class Sessions {
  #transports = new Map();

  async handle(request, response, body) {
    const key = request.headers['mcp-session-id'];
    const transport = key ? this.#transports.get(key) : isInitializeRequest(body) && (await this.#open());
    if (transport) return transport.handleRequest(request, response, body);
    return refuse(response, key ? 404 : 400, key ? 'Session not found' : 'Session id required');
  }

  async #open() {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new KeptEvents(),
      retryInterval: RETRY_MILLISECONDS,
      onsessioninitialized: (key) => this.#transports.set(key, transport),
    });
    transport.onclose = () => this.#transports.delete(transport.sessionId);
    await build(byItself).connect(transport);
    return transport;
  }
}

function refuse(response, status, message) {
  const error = { jsonrpc: '2.0', error: { code: -32000, message }, id: null };
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(error));
}

function isForeign({ headers }) {
  const { host, origin } = headers;
  return !(
    validateHostHeader(host, localhostAllowedHostnames()).ok &&
    validateOriginHeader(origin, localhostAllowedOrigins()).ok
  );
}

async function read(request) {
  const parts = await request.toArray();
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    return undefined; // the SDK answers for it
  }
}

function serveHttp(port) {
  const modern = createMcpHandler(() => build(() => modern.notify), { legacy: 'reject' });
  const handleModern = toNodeHandler(modern);
  const sessions = new Sessions();
  createServer(async (request, response) => {
    if (isForeign(request)) return refuse(response, 403, 'Only requests from this machine are served');
    const body = request.method === 'POST' ? await read(request) : undefined;
    const { kind } = classifyInboundRequest({
      httpMethod: request.method,
      protocolVersionHeader: request.headers['mcp-protocol-version'],
      mcpMethodHeader: request.headers['mcp-method'],
      body,
    });
    return kind === 'legacy' ? sessions.handle(request, response, body) : handleModern(request, response, body);
  }).listen(port, '127.0.0.1');
}

const [transport, port] = process.argv.slice(2);
if (transport === '--stdio') serveStdio(() => build(byItself));
else serveHttp(Number(port));
