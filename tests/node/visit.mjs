// Everything a client does with a server, in one conversation, told as JSON: list the tools, call a small one, read a
// large answer to its end, hear of progress, call off a call that hangs, and go on.
import { following } from './walk.mjs';

export async function visit(client, transport, { mark }) {
  const isV1 = !client.getNegotiatedProtocolVersion;
  const call = (name, given, options) =>
    isV1
      ? client.callTool({ name, arguments: given }, undefined, options)
      : client.callTool({ name, arguments: given }, options);

  await client.connect(transport);
  const version = isV1 ? undefined : client.getNegotiatedProtocolVersion();
  const { tools } = await client.listTools();
  const small = await call('small', { mark });
  const large = [await call('large', {})];
  for (let cursor = following(large[0]); cursor; cursor = following(large.at(-1))) {
    large.push(await call('brimgate_read', { cursor }));
  }
  const progress = [];
  let goingOn;
  const onprogress = ({ progress: done }) => {
    progress.push(done);
    if (done === 3) goingOn = call('go_on', { mark });
  };
  const slow = await call('slow_progress', { mark }, { onprogress });
  await goingOn;
  const off = new AbortController();
  const hung = await call('hang', { mark }, { signal: off.signal, onprogress: () => off.abort('enough') }).then(
    () => 'answered',
    (error) => (off.signal.aborted ? 'called off' : String(error)),
  );
  const cancelled = await call('await_cancelled', { mark });
  const after = await call('small', { mark });
  await client.close();
  const names = tools.map((tool) => tool.name);
  process.stdout.write(JSON.stringify({ version, tools: names, small, large, slow, progress, hung, cancelled, after }));
}
