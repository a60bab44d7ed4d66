// List the tools, call one, read on with its cursors to the end, and print all of it as JSON.

/** The cursor to go on with; behind a derived view, the one that leads to everything. */
export function following(result) {
  const record = result._meta?.['brimgate/result'];
  return record?.derived ? record.detailsAvailable.cursor : record?.nextCursor;
}

export async function walk(client, transport, { tool, arguments: given }) {
  let version;
  if (!client.getNegotiatedProtocolVersion) {
    transport.setProtocolVersion = (negotiated) => (version = negotiated); // all that SDK v1 tells of it
  }
  await client.connect(transport);
  version ??= client.getNegotiatedProtocolVersion();
  const { tools } = await client.listTools(); // from here on, answers are checked against the listed schemas
  const results = [await client.callTool({ name: tool, arguments: given })];
  for (let cursor = following(results[0]); cursor; cursor = following(results.at(-1))) {
    results.push(await client.callTool({ name: 'brimgate_read', arguments: { cursor } }));
  }
  await client.close();
  process.stdout.write(JSON.stringify({ version, tools, results }));
}
