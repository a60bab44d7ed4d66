"""Certificates, made by the `openssl` command, and clients that trust nobody else."""

import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.http.serving import PATIENCE, Serving


@dataclass(frozen=True)
class Issued:
    cert: Path
    key: Path

    @property
    def options(self) -> list[str]:
        return ["--tls-cert", str(self.cert), "--tls-key", str(self.key)]

    def trusting(self) -> ssl.SSLContext:
        """For clients that accept this certificate and no other."""
        return ssl.create_default_context(cafile=str(self.cert))


def issue(folder: Path, name: str, *, is_locked: bool = False) -> Issued:
    """A certificate for this machine that vouches for itself."""
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    locking = ["-passout", "pass:open sesame"] if is_locked else ["-noenc"]
    kind = [
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-subj",
        f"/CN={name}",
        "-days",
        "30",
    ]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", "-x509", *kind, *names, *locking, "-keyout", str(key), "-out", str(cert)],
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    return Issued(cert, key)


def shown(serving: Serving) -> bytes:
    """The certificate that a new client sees."""
    return ssl.get_server_certificate(("127.0.0.1", serving.port), timeout=PATIENCE).encode()
