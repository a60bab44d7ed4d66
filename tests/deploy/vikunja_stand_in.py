"""As much of Vikunja as a deployment asks for, without anything but Python: `python3 vikunja_stand_in.py PORT`."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN = "tk_" + "0" * 40
"""The only token that is valid."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        is_known = self.headers.get("Authorization") == f"Bearer {TOKEN}"
        match self.path.partition("?")[0]:
            case "/health":
                self._answer(200, b"OK", "text/plain")
            case "/api/v1/info":
                self._answer(200, json.dumps({"version": "v1.0.0", "max_file_size": "20MB"}).encode())
            case "/api/v1/token/test":
                self._answer(
                    200 if is_known else 401, b'{"message":"ok"}' if is_known else b'{"message":"no"}'
                )
            case "/api/v1/user" | "/api/v1/projects" | "/api/v1/tasks/all" if is_known:
                self._answer(200, b'{"id":1,"username":"ann"}' if self.path.endswith("user") else b"[]")
            case _:
                self._answer(404 if is_known else 401, b'{"message":"no"}')

    def _answer(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
