"""The same server as `raw.py`, over HTTP: `python raw_http.py PORT`. What it spends is not what is measured.

`/mcp` answers with JSON, `/sse` with a stream of one event.
"""

import asyncio
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from raw import answer  # beside this file, in whatever environment it runs


class Connection(asyncio.Protocol):
    _transport: asyncio.Transport

    def connection_made(self, transport):
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._buffer = b""

    def data_received(self, data):
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            if len(self._buffer) < end + 4 + length:
                return
            body = self._buffer[end + 4 : end + 4 + length]
            self._buffer = self._buffer[end + 4 + length :]
            self._answer(head, body)

    def _answer(self, head, body):
        if not head.startswith(b"post "):
            self._write(b"405 Method Not Allowed", b"text/plain", b"")
            return
        message = json.loads(body)
        if "id" not in message:
            self._write(b"202 Accepted", b"application/json", b"")
            return
        text = b'{"jsonrpc":"2.0","id":' + json.dumps(message["id"]).encode() + b"," + answer(message) + b"}"
        if head.startswith(b"post /sse"):
            self._write(b"200 OK", b"text/event-stream", b"event: message\r\ndata: " + text + b"\r\n\r\n")
        else:
            self._write(b"200 OK", b"application/json", text)

    def _write(self, status, kind, body):
        head = b"HTTP/1.1 %b\r\ncontent-type: %b\r\ncontent-length: %d\r\n\r\n" % (status, kind, len(body))
        self._transport.writelines([head, body])


async def main(port):
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
