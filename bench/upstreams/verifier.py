"""Checks tokens as an upstream's API does: those of `brimgate key new` are valid. `python verifier.py PORT`."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Verifier(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        is_valid = self.headers.get("authorization", "").startswith("Bearer bg_")
        body = b'{"message":"ok"}' if is_valid else b'{"message":"invalid token"}'
        self.send_response(200 if is_valid else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code="-", size="-"):
        """Say nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Verifier).serve_forever()
