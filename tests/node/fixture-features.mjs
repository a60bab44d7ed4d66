// The tools, resources, prompts and skills that the scenarios of the official suite use, on npm's official SDK.
import {
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  McpServer,
  ResourceTemplate,
  CLIENT_CAPABILITIES_META_KEY,
} from '@modelcontextprotocol/server';
import { fileURLToPath } from 'node:url';
import { loadSkills } from '@modelcontextprotocol/server/ext/skills/node';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==';
const TEXT = { type: 'string' };

const text = (value) => ({ type: 'text', text: value });
const said = (...values) => ({ content: values.map(text) });
const image = () => ({ type: 'image', data: PIXEL, mimeType: 'image/png' });
const embedded = (uri, value, mimeType = 'text/plain') => ({
  type: 'resource',
  resource: { uri, text: value, mimeType },
});
const object = (properties = {}, more = {}) => ({ type: 'object', properties, ...more });

// Asking the client: one handler for both eras, as the SDK sends real requests where the handshake was.

const user = (message, properties, required = Object.keys(properties)) =>
  inputRequired.elicit({ message, requestedSchema: object(properties, { required }) });
const model = (prompt, maxTokens = 100) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(prompt) }], maxTokens });
const roots = () => inputRequired.listRoots();

const FITS = {
  'elicitation/create': (answer) => typeof answer?.action === 'string',
  'sampling/createMessage': (answer) => answer?.content !== undefined,
  'roots/list': (answer) => Array.isArray(answer?.roots),
};
const state = createRequestStateCodec({ key: 'a fixture of a test suite has no secrets' });

/** The answers to the last round, or what the client is told so that it answers the next one. */
async function ask({ mcpReq }, ...rounds) {
  const asked = mcpReq.requestState()?.round ?? 0;
  const given = mcpReq.inputResponses ?? {};
  const fits = Object.entries(rounds[asked]).every(([key, { method }]) => FITS[method](given[key]));
  if (fits && asked + 1 === rounds.length) return { answers: Object.values(given) };
  const round = fits ? asked + 1 : asked;
  const requestState = await state.mint({ round });
  return { result: inputRequired({ inputRequests: rounds[round], requestState }) };
}

async function askAndTell(ctx, ...rounds) {
  const { answers, result } = await ask(ctx, ...rounds);
  return result ?? said('state-ok', ...answers.map((answer) => JSON.stringify(answer)));
}

const name = () => user('What is your name?', { name: TEXT });
const confirm = () => user('Please confirm', { ok: { type: 'boolean' } });
const capital = () => model('What is the capital of France?');
const OPTIONS = ['option1', 'option2', 'option3'];
const TITLED = ['First', 'Second', 'Third'].map((word, at) => ({ const: `value${at + 1}`, title: `${word} Option` }));
const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};
const CHOICES = {
  untitledSingle: { type: 'string', enum: OPTIONS },
  titledSingle: { type: 'string', oneOf: TITLED },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
  titledMulti: { type: 'array', items: { anyOf: TITLED } },
};

const QUESTIONS = {
  test_input_required_result_elicitation: [{ user_name: name() }],
  test_input_required_result_sampling: [{ capital_question: capital() }],
  test_input_required_result_list_roots: [{ client_roots: roots() }],
  test_input_required_result_request_state: [{ confirm: confirm() }],
  test_input_required_result_tampered_state: [{ confirm: confirm() }],
  test_streaming_elicitation: [{ user_name: name() }],
  test_input_required_result_multiple_inputs: [
    { user_name: name(), greeting: model('Generate a greeting', 50), client_roots: roots() },
  ],
  test_input_required_result_multi_round: [
    { step1: user('Step 1: What is your name?', { name: TEXT }) },
    { step2: user('Step 2: What is your favorite color?', { color: TEXT }) },
  ],
  test_elicitation_sep1034_defaults: [{ details: user('Please check these details', DEFAULTS, []) }],
  test_elicitation_sep1330_enums: [{ choices: user('Please choose', CHOICES, []) }],
};

function addQuestions(tool) {
  for (const [title, rounds] of Object.entries(QUESTIONS)) {
    tool(title, object(), (_given, ctx) => askAndTell(ctx, ...rounds));
  }
  tool('test_sampling', object({ prompt: TEXT }, { required: ['prompt'] }), ({ prompt }, ctx) =>
    askAndTell(ctx, { answer: model(prompt) }),
  );
  tool('test_elicitation', object({ message: TEXT }, { required: ['message'] }), ({ message }, ctx) =>
    askAndTell(ctx, { answer: user(message, { username: TEXT, email: TEXT }) }),
  );
  tool('test_input_required_result_capabilities', object(), (_given, ctx) => {
    const able = ctx.mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
    const questions = {
      ...(able.sampling && { capital_question: capital() }),
      ...(able.elicitation && { user_name: name() }),
    };
    return askAndTell(ctx, questions);
  });
  // The SDK itself refuses to ask what the client has not declared.
  tool('test_missing_capability', object(), (_given, ctx) => askAndTell(ctx, { answer: capital() }));
}

// Tools that just answer

const PERSON = object(
  {
    name: TEXT,
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: TEXT,
    email: TEXT,
  },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: { address: { $anchor: 'addressDef', ...object({ street: TEXT, city: TEXT }) } },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
);
const REGION = object({ region: { type: 'string', 'x-mcp-header': 'Region' } }, { required: ['region'] });

async function log(_given, { mcpReq }) {
  for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await mcpReq.log('info', data);
  }
  return said('Logged three messages.');
}

async function report(_given, { mcpReq }) {
  const { progressToken } = mcpReq._meta ?? {};
  for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
  }
  return said('Reported progress.');
}

/** Closes its own stream before it answers, where there is one: the client comes back for the answer. */
async function reconnect(_given, ctx) {
  ctx.http?.closeSSE?.();
  return said('Reconnection test completed successfully.');
}

function addAnswers(tool) {
  tool('test_simple_text', object(), () => said('This is a simple text response for testing.'));
  tool('test_image_content', object(), () => ({ content: [image()] }));
  tool('test_audio_content', object(), () => ({
    content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }],
  }));
  tool('test_embedded_resource', object(), () => ({
    content: [embedded('test://embedded-resource', 'This is an embedded resource content.')],
  }));
  tool('test_multiple_content_types', object(), () => {
    const data = JSON.stringify({ test: 'data', value: 123 });
    const block = embedded('test://mixed-content-resource', data, 'application/json');
    return { content: [text('Multiple content types test:'), image(), block] };
  });
  tool('test_error_handling', object(), () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  tool('json_schema_2020_12_tool', PERSON, (given) => said(JSON.stringify(given)));
  tool('test_header_parameter', REGION, (given) => said(JSON.stringify(given)));
  tool('test_tool_with_logging', object(), log);
  tool('test_logging_tool', object(), log);
  tool('test_tool_with_progress', object(), report);
  tool('test_reconnection', object(), reconnect);
  // Tools of the tasks extension, as a server without it has them: they answer at once.
  tool('slow_compute', object({ seconds: { type: 'number' }, label: TEXT }), (given) => said(`${given.label} done`));
  tool('greet', object({ name: TEXT }, { required: ['name'] }), (given) => said(`Hello, ${given.name}!`));
}

// What Brimgate has to reduce

const row = (id) => ({
  id,
  title: `Ticket ${id}: the ${['printer', 'gate', 'lift', 'heating'][id % 4]} needs a look`,
  state: ['open', 'waiting', 'closed'][id % 3],
  hours: ((id * 7) % 50) / 4,
});

function addLargeList(server) {
  const outputSchema = object({ rows: { type: 'array', items: { type: 'object' } } }, { required: ['rows'] });
  const description = 'Tool of the conformance fixture with a large answer.';
  const shape = { description, inputSchema: fromJsonSchema(object()), outputSchema: fromJsonSchema(outputSchema) };
  server.registerTool('brimgate_large_list', shape, () => {
    const structuredContent = { rows: Array.from({ length: 400 }, (_, id) => row(id)) };
    return { ...said(JSON.stringify(structuredContent)), structuredContent };
  });
}

// Resources and prompts

function addResources(server) {
  const fixed = (uri, mimeType, content) =>
    server.registerResource(uri, uri, { mimeType }, () => ({ contents: [{ uri, mimeType, ...content }] }));
  fixed('test://static-text', 'text/plain', { text: 'This is the content of the static text resource.' });
  fixed('test://watched-resource', 'text/plain', { text: 'This resource can be watched.' });
  fixed('test://static-binary', 'image/png', { blob: PIXEL });
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  const mimeType = 'application/json';
  server.registerResource('template', template, { mimeType }, (uri, { id }) => {
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri: uri.href, mimeType, text: data }] };
  });
}

const prompted = (...blocks) => ({ messages: blocks.map((content) => ({ role: 'user', content })) });

function addPrompts(server) {
  const prompt = (title, names, get) => {
    const properties = Object.fromEntries(names.map((key) => [key, TEXT]));
    const argsSchema = fromJsonSchema(object(properties, { required: names }));
    const description = `Prompt of the conformance fixture: ${title}.`;
    server.registerPrompt(title, names.length ? { description, argsSchema } : { description }, get);
  };
  prompt('test_simple_prompt', [], () => prompted(text('This is a simple prompt for testing.')));
  prompt('test_prompt_with_arguments', ['arg1', 'arg2'], ({ arg1, arg2 }) =>
    prompted(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  prompt('test_prompt_with_embedded_resource', ['resourceUri'], ({ resourceUri }) => {
    const block = embedded(resourceUri, 'Embedded resource content for testing.');
    return prompted(block, text('Please process the embedded resource above.'));
  });
  prompt('test_prompt_with_image', [], () => prompted(image(), text('Please analyze the image above.')));
  prompt('test_input_required_result_prompt', [], async (ctx) => {
    const question = user('What context should the prompt use?', { context: TEXT });
    const { answers, result } = await ask(ctx, { user_context: question });
    return result ?? prompted(text(JSON.stringify(answers[0])));
  });
}

const skills = await loadSkills(fileURLToPath(new URL('../conformance/skills', import.meta.url)));

/** A server with everything. `changed` tells those who listen that the tools or the prompts have changed. */
export function build(changed) {
  const capabilities = {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    logging: {},
    completions: {},
  };
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities,
      requestState: { verify: state.verify },
      cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } },
    },
  );
  const tool = (title, schema, run) => {
    const description = `Tool of the conformance fixture: ${title}.`;
    server.registerTool(title, { description, inputSchema: fromJsonSchema(schema) }, run);
  };
  addAnswers(tool);
  addQuestions(tool);
  addLargeList(server);
  tool('test_trigger_tool_change', object(), () => {
    changed(server).toolsChanged();
    return said('The list of tools has changed.');
  });
  tool('test_trigger_prompt_change', object(), () => {
    changed(server).promptsChanged();
    return said('The list of prompts has changed.');
  });
  addResources(server);
  addPrompts(server);
  for (const method of ['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel']) {
    server.server.setRequestHandler(method, () => ({}));
  }
  server.server.setRequestHandler('completion/complete', ({ params }) => {
    const values = ['-one', '-two'].map((end) => params.argument.value + end);
    return { completion: { values, total: 2, hasMore: false } };
  });
  skills.attach(server);
  return server;
}
